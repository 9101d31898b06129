"""The gateway, prompted over HTTP."""

import json
import os

import far
import gateway

port = gateway.free_port()
with open("acpbox.json", "w") as config:
    json.dump({"acp": {"command": far.AGENT, "workspace": os.getcwd()}, "gateway": {"host": "127.0.0.1", "port": port}}, config)
os.environ |= {"ACPBOX_ACP_COMMAND": json.dumps(far.AGENT), "ACPBOX_ACP_WORKSPACE": os.getcwd(),
               "ACPBOX_GATEWAY_HOST": "127.0.0.1", "ACPBOX_GATEWAY_PORT": str(port)}
process = gateway.serve("acpbox", "--config", "acpbox.json")
for text in far.PROMPTS:
    body = {"model": "", "messages": [{"role": "user", "content": text}]}
    far.tell(ended=gateway.post(f"http://127.0.0.1:{port}/v1/chat/completions", body))
process.terminate()
process.wait()
