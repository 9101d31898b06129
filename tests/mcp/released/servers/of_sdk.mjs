// A server of @modelcontextprotocol/sdk. What its tools do is said in ../README.md.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.PACKAGES}/package.json`);
const load = (path) => import(pathToFileURL(require.resolve(path)));
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { UrlElicitationRequiredError } = await load('@modelcontextprotocol/sdk/types.js');
const { z } = await load('zod');

const server = new McpServer({ name: 'tickets', version: '1.0.0' });
const required = new Set();
const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });
const ticket = (message) => server.server.elicitInput({ message, requestedSchema: {
    type: 'object',
    properties: { title: { type: 'string', title: 'Title' }, count: { type: 'integer', title: 'Count' } },
    required: ['title', 'count'],
} });

server.registerTool('plain', { inputSchema: { text: z.string().default('') } }, async (args) => text(`plain ${args.text}`));
server.registerTool('form', {}, async () => text(await ticket('Which ticket?')));
server.registerTool('twice', {}, async () => text([await ticket('First ticket?'), await ticket('Second ticket?')]));
server.registerTool('link', {}, async () => {
    const result = await server.server.elicitInput({
        mode: 'url', message: 'Sign in.', url: 'https://tickets.example.com/connect?state=1', elicitationId: 'e-1' });
    if (result.action === 'accept') await server.server.createElicitationCompletionNotifier('e-1')();
    return text(result);
});
server.registerTool('links', { inputSchema: { name: z.string() } }, async ({ name }) => {
    if (!required.has(name)) {
        required.add(name);
        throw new UrlElicitationRequiredError([{ mode: 'url', message: 'Sign in first.',
            url: `https://tickets.example.com/connect?name=${name}`, elicitationId: `e-${name}` }]);
    }
    return text(`linked ${name}`);
});
// Says after a while that a page is done with.
const complete = (elicitationId) => setTimeout(server.server.createElicitationCompletionNotifier(elicitationId), 1000);
server.registerTool('link_completes', {}, async () => {
    complete('e-2');
    return text(await server.server.elicitInput({
        mode: 'url', message: 'Sign in.', url: 'https://tickets.example.com/connect?state=3', elicitationId: 'e-2' }));
});
server.registerTool('links_complete', { inputSchema: { name: z.string() } }, async ({ name }) => {
    if (!required.has(name)) {
        required.add(name);
        complete(`e-${name}`);
        throw new UrlElicitationRequiredError([{ mode: 'url', message: 'Sign in first.',
            url: `https://tickets.example.com/connect?name=${name}`, elicitationId: `e-${name}` }]);
    }
    return text(`linked ${name}`);
});
server.registerTool('slow', { inputSchema: { steps: z.number().default(3) } }, async ({ steps }, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let step = 1; step <= steps; step++) {
        if (progressToken !== undefined)
            await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: step, total: steps } });
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return text('slow');
});
await server.connect(new StdioServerTransport());
