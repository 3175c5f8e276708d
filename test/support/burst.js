// A process that opens connections to a service, and then sends a request on each of them at once.
import { once } from 'node:events';
import { Agent, request } from 'node:http';

const [{ url, connections }] = await once(process, 'message');
const agent = new Agent({ keepAlive: true, maxSockets: connections });

function send({ method = 'POST', path, headers, body }) {
  return new Promise((resolve) => {
    const sent = request(url + path, { method, agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', ({ code }) => resolve(code)).end(body);
  });
}

await Promise.all(Array.from({ length: connections }, () => send({ method: 'GET', path: '/healthz' })));
process.on('message', async (requests) => process.send(await Promise.all(requests.map(send))));
process.send('open');
