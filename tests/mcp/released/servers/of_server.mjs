// A server of @modelcontextprotocol/server, the second version of the SDK for TypeScript, which speaks both protocols.
// What its tools do is said in ../README.md.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.PACKAGES}/package.json`);
const load = (path) => import(pathToFileURL(require.resolve(path)));
const { McpServer, UrlElicitationRequiredError, inputRequired, inputResponse } = await load('@modelcontextprotocol/server');
const { serveStdio } = await load('@modelcontextprotocol/server/stdio');
const { z } = await load('zod');

const required = new Set();
const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });
const ticket = (message) => ({ message, requestedSchema: {
    type: 'object',
    properties: { title: { type: 'string', title: 'Title' }, count: { type: 'integer', title: 'Count' } },
    required: ['title', 'count'],
} });

serveStdio(() => {
    const server = new McpServer({ name: 'tickets', version: '1.0.0' });
    server.registerTool('plain', { inputSchema: z.object({ text: z.string().default('') }) }, async (args) => text(`plain ${args.text}`));
    server.registerTool('form', {}, async () => text(await server.server.elicitInput(ticket('Which ticket?'))));
    server.registerTool('twice', {}, async () =>
        text([await server.server.elicitInput(ticket('First ticket?')), await server.server.elicitInput(ticket('Second ticket?'))]));
    server.registerTool('link', {}, async () => {
        const result = await server.server.elicitInput({
            mode: 'url', message: 'Sign in.', url: 'https://tickets.example.com/connect?state=1', elicitationId: 'e-1' });
        if (result.action === 'accept') await server.server.createElicitationCompletionNotifier('e-1')();
        return text(result);
    });
    server.registerTool('links', { inputSchema: z.object({ name: z.string() }) }, async ({ name }) => {
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
    server.registerTool('links_complete', { inputSchema: z.object({ name: z.string() }) }, async ({ name }) => {
        if (!required.has(name)) {
            required.add(name);
            complete(`e-${name}`);
            throw new UrlElicitationRequiredError([{ mode: 'url', message: 'Sign in first.',
                url: `https://tickets.example.com/connect?name=${name}`, elicitationId: `e-${name}` }]);
        }
        return text(`linked ${name}`);
    });
    server.registerTool('slow', { inputSchema: z.object({ steps: z.number().default(3) }) }, async ({ steps }, context) => {
        const progressToken = context.mcpReq._meta?.progressToken;
        for (let step = 1; step <= steps; step++) {
            if (progressToken !== undefined)
                await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: step, total: steps } });
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return text('slow');
    });
    server.registerTool('resolved', {}, async (context) => {
        const answer = context.mcpReq.inputResponses?.ticket;
        if (answer === undefined)
            return inputRequired({ inputRequests: { ticket: inputRequired.elicit(ticket('Which ticket?')) }, requestState: 'resolved' });
        return text({ answer, state: context.mcpReq.requestState() });
    });
    server.registerTool('resolved_link', {}, async (context) => {
        const answer = context.mcpReq.inputResponses?.connect;
        if (answer === undefined)
            return inputRequired({ inputRequests: {
                connect: inputRequired.elicitUrl({ message: 'Sign in.', url: 'https://tickets.example.com/connect?state=2' }) } });
        return text({ answer });
    });
    server.registerTool('resolved_twice', {}, async (context) => {
        const { first, second } = context.mcpReq.inputResponses ?? {};
        const state = context.mcpReq.requestState();
        if (first === undefined && state === undefined)
            return inputRequired({ inputRequests: {
                first: inputRequired.elicit(ticket('First ticket?')), aside: inputRequired.elicit(ticket('And aside?')) }, requestState: 'one' });
        if (second === undefined)
            return inputRequired({ inputRequests: { second: inputRequired.elicit(ticket('Second ticket?')) },
                requestState: JSON.stringify({ first, aside: context.mcpReq.inputResponses.aside }) });
        return text({ before: state, second });
    });
    server.registerTool('confirm', { inputSchema: z.object({ place: z.string() }) }, async ({ place }, context) => {
        const answer = context.mcpReq.inputResponses?.confirm;
        if (answer === undefined)
            return inputRequired({ inputRequests: { confirm: inputRequired.elicit(ticket(`Deploy to ${place}?`)) } });
        return text(`${place}: ${answer.action}`);
    });
    return server;
});
