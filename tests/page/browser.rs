//! A headless Chromium with a profile of its own, driven by ChromeDriver. Every wait has a deadline. A failure shows
//! the page's text and the console, and says where the screenshot is.
//! What a test knows of the page is left to `person.rs`.

use std::{
    fmt::Write as _,
    fs::{self, Permissions},
    io::{self, ErrorKind, Write as _},
    net::{Ipv4Addr, Ipv6Addr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{self, Command},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use fantoccini::{Client, ClientBuilder, error::CmdError};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::{runtime::Handle, task::block_in_place, time::timeout};

use crate::{commands::Extension, support::Process};

/// A generous hang guard. No correct run comes near it, on any machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// How long one script looks at the page before the harness looks at its own deadline.
const GLANCE: u64 = 1000;

/// Milliseconds between two looks. Each goes through the whole page.
const PAUSE: u64 = 30;

const LIBRARY: &str = include_str!("page.js");

/// What happens in each document before its own scripts: it keeps what the security policy refused, and what failed.
const WATCH: &str = "
    window.refused = [];
    window.failed = [];
    addEventListener('securitypolicyviolation', (event) => refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    addEventListener('error', (event) => failed.push(event.message));
    addEventListener('unhandledrejection', (event) => failed.push(String(event.reason)));
";

const FLAGS: [&str; 15] = [
    "--headless",
    // The tests may run as root, in a container.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // A tab in the background is as fast as the one in front.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // The order in which a date is typed.
    "--lang=en-US",
    "--force-color-profile=srgb",
    "--window-size=1280,900",
];

/// What the driver starts in the place of the browser: the browser itself, which the kernel kills when the driver ends.
/// The driver starts it in a process group of its own.
const LAUNCHER: &str = "#!/bin/sh\nexec setpriv --pdeathsig KILL chromium \"$@\"\n";

/// A running browser, which is killed on drop, and also when the test is killed: the kernel ends the driver with it.
pub(crate) struct Browser {
    pub(crate) client: Client,
    _driver: Process,
    pid: Option<Pid>,
    _profile: TempDir,
    is_reported: AtomicBool,
}

impl Browser {
    pub(crate) async fn start() -> Self {
        Self::launch(&[], json!({ "browser": "ALL" })).await
    }

    /// Starts a browser with further flags, of which the log `performance` has all that it does with the network.
    pub(crate) async fn start_logging(flags: &[&str]) -> Self {
        Self::launch(flags, json!({ "browser": "ALL", "performance": "ALL" })).await
    }

    async fn launch(flags: &[&str], logs: Value) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let launcher = profile.path().join("launcher");
        fs::write(&launcher, LAUNCHER).unwrap();
        fs::set_permissions(&launcher, Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new("setpriv");
        let port = free_port();
        command.args(["--pdeathsig", "KILL", "chromedriver", &format!("--port={port}")]);
        command.env("HOME", profile.path());
        let mut driver = Process::spawn(&mut command);
        driver.expect("the start of ChromeDriver", |line| line.contains("successfully on port "));
        let client =
            timeout(DEADLINE, connect(port, &profile, flags, logs)).await.expect("a session of ChromeDriver");
        let process = client.capabilities().and_then(|got| got.get("goog:processID")).and_then(Value::as_i64);
        let pid = process.and_then(|id| Pid::from_raw(i32::try_from(id).unwrap()));
        let is_reported = AtomicBool::new(false);
        let browser = Browser { client, _driver: driver, pid, _profile: profile, is_reported };
        browser.watch().await;
        browser
    }

    /// Watches the current tab, from its next document on. Each new tab needs it.
    pub(crate) async fn watch(&self) {
        self.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await;
    }

    /// Writes a screenshot of a window of this size beside the figures, in both schemes.
    pub(crate) async fn look(&self, name: &str, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
        for scheme in ["light", "dark"] {
            self.scheme(scheme).await;
            let image = self.cdp("Page.captureScreenshot", json!({ "format": "png" })).await;
            let image = BASE64_STANDARD.decode(image["data"].as_str().expect("Base64")).expect("Base64");
            fs::write(shots().join(format!("{name}-{width}-{scheme}.png")), image).unwrap();
        }
    }

    /// Sends a command of the Chrome DevTools Protocol to the current tab.
    pub(crate) async fn cdp(&self, method: &str, params: Value) -> Value {
        self.command(method, self.client.issue_cmd(Extension::cdp(method, params))).await
    }

    /// Returns the messages of a log since the last time.
    pub(crate) async fn log(&self, kind: &str) -> Vec<String> {
        let entries = self.command("the log", self.client.issue_cmd(Extension::log(kind))).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Waits for a command of the driver.
    pub(crate) async fn command<T>(
        &self,
        what: &str,
        command: impl Future<Output = Result<T, CmdError>>,
    ) -> T {
        match timeout(DEADLINE, command).await {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => self.fail(&format!("{what}: {error}")).await,
            Err(_) => self.fail(&format!("waited too long: {what}")).await,
        }
    }

    pub(crate) async fn goto(&self, address: &str) {
        self.command(address, self.client.goto(address)).await;
    }

    pub(crate) async fn refresh(&self) {
        self.command("a reload", self.client.refresh()).await;
    }

    /// Runs the body of a function on the page, and returns its result.
    pub(crate) async fn run(&self, body: &str, args: &[Value]) -> Value {
        let script = format!("{LIBRARY}\n{body}");
        self.command(body, self.client.execute(&script, args.to_owned())).await
    }

    /// Runs the body of an asynchronous function on the page, and returns what it resolves to.
    pub(crate) async fn run_async(&self, body: &str, args: &[Value]) -> Value {
        let script = format!(
            "{LIBRARY}\nconst [done] = [...arguments].slice(-1);\n\
             (async () => {{ {body} }})().then((value) => done({{ value }}), (error) => done({{ error: `${{error}}` }}));"
        );
        let mut done = self.command(body, self.client.execute_async(&script, args.to_owned())).await;
        match done["error"].as_str() {
            Some(error) => self.fail(&format!("{body}: {error}")).await,
            None => done["value"].take(),
        }
    }

    /// Waits until an expression is true on the page, across reloads, and returns its value. It may use the page's
    /// library, and `arguments`.
    pub(crate) async fn until(&self, what: &str, expression: &str, args: &[Value]) -> Value {
        let script = format!(
            "{LIBRARY}\n\
             const done = arguments[arguments.length - 1];\n\
             const end = performance.now() + {GLANCE};\n\
             const look = () => {{\n\
               let value = null, error = null;\n\
               try {{ value = {expression}; }} catch (thrown) {{ error = String(thrown); }}\n\
               if (value || performance.now() > end) done({{ value, error }}); else setTimeout(look, {PAUSE});\n\
             }};\n\
             look();"
        );
        let deadline = Instant::now() + DEADLINE;
        let mut last = Value::Null;
        while Instant::now() < deadline {
            // A script ends with an error where the page is left meanwhile.
            let looked = timeout(DEADLINE, self.client.execute_async(&script, args.to_owned())).await;
            match looked {
                Ok(Ok(mut seen)) if holds(&seen["value"]) => return seen["value"].take(),
                Ok(Ok(seen)) => last = seen,
                Ok(Err(error)) => last = json!(error.to_string()),
                Err(_) => break,
            }
        }
        self.fail(&format!("waited too long for {what}; at last: {last}")).await
    }

    /// Fails the test, and shows what the browser shows.
    pub(crate) async fn fail(&self, why: &str) -> ! {
        let report = self.report().await;
        panic!("{why}\n{report}");
    }

    async fn report(&self) -> String {
        self.is_reported.store(true, Ordering::Relaxed);
        let mut report = String::new();
        // Where it cannot be had, that is no reason to hide the failure.
        let script =
            "return [location.pathname + location.hash, text(), window.refused ?? [], window.failed ?? []];";
        let script = format!("{LIBRARY}\n{script}");
        let seen = self.client.execute(&script, Vec::new());
        if let Ok(Ok(seen)) = timeout(DEADLINE, seen).await {
            let text = seen[1].as_str().unwrap_or_default();
            writeln!(report, "--- page {} ---\n{text}", seen[0]).unwrap_or_default();
            writeln!(report, "--- refused {} failed {} ---", seen[2], seen[3]).unwrap_or_default();
        }
        if let Ok(Ok(log)) = timeout(DEADLINE, self.client.issue_cmd(Extension::log("browser"))).await {
            writeln!(report, "--- console ---").unwrap_or_default();
            for entry in log.as_array().into_iter().flatten() {
                writeln!(report, "{}", entry["message"]).unwrap_or_default();
            }
        }
        if let Ok(Ok(image)) = timeout(DEADLINE, self.client.screenshot()).await {
            let name = thread::current().name().unwrap_or("page").replace("::", "-");
            let path = shots().join(format!("{name}.png"));
            if fs::write(&path, image).is_ok() {
                writeln!(report, "--- screenshot: {} ---", path.display()).unwrap_or_default();
            }
        }
        report
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // An assertion failed: what the page showed then says why.
        if thread::panicking() && !self.is_reported.load(Ordering::Relaxed) {
            let report = block_in_place(|| Handle::current().block_on(self.report()));
            std::io::stderr().write_all(report.as_bytes()).unwrap_or_default();
        }
        // ChromeDriver is killed too, and cannot end it.
        if let Some(pid) = self.pid {
            kill_process(pid, Signal::KILL).unwrap_or_default();
        }
    }
}

/// Returns the folder for screenshots and figures.
pub(crate) fn shots() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&folder).unwrap_or_default();
    folder
}

/// Whether JavaScript takes a value as true.
fn holds(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value.as_f64() != Some(0.0) && value != ""
}

/// Returns a port for ChromeDriver, which listens at it by IPv6 and by IPv4. If it chose one itself, the kernel would give it
/// one that is free by IPv6, and by IPv4 the port may be that of any connection. Below those that the kernel gives out, only
/// other drivers have ports, and each test begins to look at another place.
fn free_port() -> u16 {
    const FIRST: u32 = 12_000;
    const COUNT: u32 = 16_000;
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let place = process::id().wrapping_add(STARTED.fetch_add(1, Ordering::Relaxed).wrapping_mul(977));
    let mut ports = (0..COUNT).filter_map(|step| u16::try_from(FIRST + (place % COUNT + step) % COUNT).ok());
    let is_free = |port: &u16| {
        let of_another =
            |bound: io::Result<_>| bound.is_err_and(|error| error.kind() == ErrorKind::AddrInUse);
        // A machine may be without IPv6.
        !of_another(TcpListener::bind((Ipv4Addr::LOCALHOST, *port)))
            && !of_another(TcpListener::bind((Ipv6Addr::LOCALHOST, *port)))
    };
    ports.find(is_free).expect("a free port")
}

async fn connect(port: u16, profile: &TempDir, flags: &[&str], logs: Value) -> Client {
    let folder = format!("--user-data-dir={}", profile.path().join("profile").display());
    let args: Vec<_> = FLAGS.into_iter().chain([folder.as_str()]).chain(flags.iter().copied()).collect();
    let capabilities = json!({
        "goog:chromeOptions": { "args": args, "binary": profile.path().join("launcher") },
        "goog:loggingPrefs": logs,
        "unhandledPromptBehavior": "ignore",
    });
    let capabilities: Map<String, Value> = capabilities.as_object().cloned().unwrap();
    let mut builder = ClientBuilder::new(HttpConnector::new());
    builder.capabilities(capabilities);
    builder.connect(&format!("http://127.0.0.1:{port}")).await.unwrap()
}
