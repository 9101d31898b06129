//! The methods that report how machines are connected. A call may wait until that changes.

use askbridge_core::desk::Refusal;
use jsonrpsee::{
    Extensions, RpcModule,
    core::{RegisterMethodError, RpcResult},
    types::Params,
};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    connection::{Budgets, CallRoom, error},
    method,
};
use crate::inbox::{
    Inbox,
    report::{MachineListing, MachineReport},
};

#[derive(Deserialize)]
struct KnownParams {
    // Clients also send an empty list if they have no parameters.
    #[serde(default)]
    known: Option<u64>,
}

/// Returns the methods over this inbox.
pub(super) fn methods<I: Inbox>(
    inbox: I,
    budgets: &Budgets,
) -> Result<RpcModule<(I, Budgets)>, RegisterMethodError> {
    let mut module = RpcModule::new((inbox, budgets.clone()));
    module.register_async_method(
        method::REPORT,
        async |params, context, extensions| -> RpcResult<MachineReport> {
            let (known, _room) = known(&params, &context.1, &extensions)?;
            Ok(context.0.report(known).await)
        },
    )?;
    module.register_async_method(
        method::MACHINES,
        async |params, context, extensions| -> RpcResult<MachineListing> {
            let (known, _room) = known(&params, &context.1, &extensions)?;
            Ok(context.0.machine_list(known).await)
        },
    )?;
    Ok(module)
}

/// Returns the revision that the caller knows, and the room of a call that waits for another one.
fn known(
    params: &Params<'_>,
    budgets: &Budgets,
    extensions: &Extensions,
) -> RpcResult<(Option<u64>, Option<OwnedSemaphorePermit>)> {
    let known = params.parse::<Option<KnownParams>>()?.and_then(|params| params.known);
    // A call of a batch has no room of its own. It does not wait, since it would delay the replies to the others.
    let Some((known, call)) = known.zip(extensions.get::<CallRoom>()) else { return Ok((None, None)) };
    // Such a call takes the resources of a subscription, for as long.
    let room = budgets.subscription().ok_or_else(|| error(Refusal::TooManyRequests))?;
    call.give_back();
    Ok((Some(known), Some(room)))
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::Responder;
    use futures::FutureExt;
    use serde_json::{Value, json};

    use crate::{
        limits,
        rpc::{
            caller::Caller,
            methods::Methods,
            played::played,
            session::{Incoming, call},
        },
    };

    #[test]
    fn calls_that_wait_for_a_change_are_bounded_and_not_in_a_batch() {
        let (inbox, _port, _work) = played("b");
        let methods = Methods::new(inbox, Caller::Of(Responder::Rpc));
        let request =
            |params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "machine_list", "params": params });
        let begin =
            |request: &Value| Box::pin(call(&methods, Incoming { text: request.to_string(), room: None }));
        let reply = |request: &Value| {
            let reply = begin(request).now_or_never()?.expect("a reply");
            Some(serde_json::from_slice::<Value>(reply.as_ref()).expect("JSON"))
        };
        let none = json!({ "protocol": 1, "revision": 0, "machines": [] });
        for params in [json!({}), json!([]), Value::Null] {
            assert_eq!(reply(&request(params.clone())).expect("no wait")["result"], none, "{params}");
        }
        let waits = request(json!({ "known": 0 }));
        assert_eq!(reply(&json!([waits])).expect("no wait")[0]["result"], none);
        let mut waiting: Vec<_> = (0..limits::SUBSCRIPTIONS).map(|_| begin(&waits)).collect();
        assert!(waiting.iter_mut().all(|call| call.now_or_never().is_none()));
        assert_eq!(reply(&waits).expect("a refusal")["error"]["data"]["name"], "too_many_requests");
        drop(waiting);
        assert_eq!(reply(&waits), None);
    }
}
