// What an application does with the official TypeScript client 2.x; run beside its node_modules, as a process of its own.
//
//     node use.mjs URL MODE REQUESTS
//
// MODE is legacy, auto or a protocol version to pin. REQUESTS is a JSON object of labels and [tool, arguments]. Prints one
// JSON document with what the application sees and with the headers that the SDK sent.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fetchAndNote, readRequests, sent } from './common.mjs';

const [url, mode, requests] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: fetchAndNote });
const negotiated = mode === 'legacy' || mode === 'auto' ? mode : { pin: mode };
const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: negotiated } });
await client.connect(transport);
const seen = {
    protocolVersion: transport.protocolVersion,
    server: client.getServerVersion().name,
    sessionId: transport.sessionId,
    tools: (await client.listTools()).tools.map(tool => tool.name)
};
for (const [label, [name, args]] of Object.entries(readRequests(requests))) {
    try {
        seen[label] = await client.callTool({ name, arguments: args });
    } catch (fault) {
        seen[label] = { code: fault.code, message: fault.message, data: fault.data };
    }
}
await client.close();
console.log(JSON.stringify({ ...seen, sent, closed: true }));
