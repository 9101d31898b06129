// The client of @modelcontextprotocol/sdk as a host: calls one tool, and prints what it was told.
//
//     of_sdk.mjs HANDLER TOOL COMMAND...
//
// HANDLER says what it does: none (it declares nothing), absent (it declares the form, and has no handler), accept,
// decline or wait. PACKAGES is the folder of its packages.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.PACKAGES}/package.json`);
const load = (path) => import(pathToFileURL(require.resolve(path)));
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');

const [handler, tool, command, ...args] = process.argv.slice(2);
const capabilities = handler === 'none' ? {} : { elicitation: { form: {}, url: {} } };
const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities });
if (!['none', 'absent'].includes(handler))
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        if (handler === 'wait') await new Promise(() => {});
        if (handler === 'decline') return { action: 'decline' };
        return { action: 'accept', ...(params.mode === 'url' ? {} : { content: { title: 'Broken door', count: 2 } }) };
    });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' }));
try {
    const result = await client.callTool({ name: tool, arguments: tool === 'links' ? { name: 'calendar' } : {} });
    const said = result.content.map((part) => part.text).join(' ');
    console.log(JSON.stringify({ said: result.isError ? `isError ${said}` : said }));
} catch (error) {
    console.log(JSON.stringify({ said: `error ${error.code} ${error.message}` }));
}
await client.close();
