#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2, server 2.4.0 and server-everything 2026.8.31 (npm): a form with a required field is
# accepted with another field, of another type. A tool that asks by `elicitInput` has an error. One that asks by the
# request of its call (`extra.sendRequest`), as the reference server does, is handed the answer as it came. One would
# guess that an answer is compared with its form wherever the SDK knows both. Whether a tool can rely on its form is
# decided by the call with which it asks.
#
# Output:
#   sdk, elicitInput            refused
#   sdk, extra.sendRequest      the tool gets {"title":7}
#   server, mcpReq.elicitInput  refused
#   server-everything           the tool gets {"title":7}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 \
    @modelcontextprotocol/server-everything@2026.8.31 zod@4.6.7
cat >sdk.mjs <<'PROGRAM'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';

const requestedSchema = { type: 'object', properties: { name: { type: 'string' }, title: { type: 'string' } }, required: ['name'] };
const params = { message: 'Who?', requestedSchema };
const text = ({ content }) => ({ content: [{ type: 'text', text: JSON.stringify(content) }] });
const server = new McpServer({ name: 'server', version: '1.0.0' });
server.registerTool('one', {}, async () => text(await server.server.elicitInput(params)));
server.registerTool('two', {}, async (extra) =>
    text(await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema)));
await server.connect(new StdioServerTransport());
PROGRAM
cat >server.mjs <<'PROGRAM'
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const requestedSchema = { type: 'object', properties: { name: { type: 'string' }, title: { type: 'string' } }, required: ['name'] };
serveStdio(() => {
    const server = new McpServer({ name: 'server', version: '1.0.0' });
    server.registerTool('one', {}, async (context) => {
        const { content } = await context.mcpReq.elicitInput({ message: 'Who?', requestedSchema });
        return { content: [{ type: 'text', text: JSON.stringify(content) }] };
    });
    return server;
});
PROGRAM
cat >host.mjs <<'PROGRAM'
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

async function said(name, file, tool) {
    const server = spawn('node', [file], { stdio: ['pipe', 'pipe', 'ignore'] });
    const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: { elicitation: { form: {} } },
        clientInfo: { name: 'host', version: '1.0.0' } } });
    for await (const line of createInterface({ input: server.stdout })) {
        const message = JSON.parse(line);
        if (message.method === 'elicitation/create')
            send({ id: message.id, result: { action: 'accept', content: { title: 7 } } });
        else if (message.id === 1 && message.result) {
            send({ method: 'notifications/initialized' });
            // Its tools are complete when this is answered.
            send({ id: 2, method: 'tools/list' });
        } else if (message.id === 2) send({ id: 3, method: 'tools/call', params: { name: tool, arguments: {} } });
        else if (message.id === 3) {
            const text = message.result.content.map((part) => part.text).join('');
            const content = /"title":\s*7/.test(text) ? 'the tool gets {"title":7}' : text;
            console.log(`${name.padEnd(26)}  ${message.result.isError ? 'refused' : content}`);
            break;
        }
    }
    server.kill();
}

await said('sdk, elicitInput', 'sdk.mjs', 'one');
await said('sdk, extra.sendRequest', 'sdk.mjs', 'two');
await said('server, mcpReq.elicitInput', 'server.mjs', 'one');
await said('server-everything', 'node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'trigger-elicitation-request');
PROGRAM
node host.mjs | tee said
diff said - <<'EXPECTED'
sdk, elicitInput            refused
sdk, extra.sendRequest      the tool gets {"title":7}
server, mcpReq.elicitInput  refused
server-everything           the tool gets {"title":7}
EXPECTED
