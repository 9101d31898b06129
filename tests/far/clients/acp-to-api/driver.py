"""The gateway, prompted over HTTP."""

import json

import far
import gateway

port = gateway.free_port()
with open("acp-to-api.toml", "w") as config:
    config.write(f'port = {port}\nhost = "127.0.0.1"\n[providers.agent]\n')
    config.write(f"command = {json.dumps(far.AGENT[0])}\nargs = {json.dumps(far.AGENT[1:])}\n")
process = gateway.serve("acp-to-api", "serve", "--config", "acp-to-api.toml")
for text in far.PROMPTS:
    body = {"model": "agent", "messages": [{"role": "user", "content": text}]}
    far.tell(ended=gateway.post(f"http://127.0.0.1:{port}/api/v1/agent/openai/chat/completions", body))
process.terminate()
process.wait()
