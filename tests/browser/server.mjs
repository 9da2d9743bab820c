// A static server for a folder, as anybody's: no headers of its own beside the type.
//
//     node server.mjs FOLDER [PORT]
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';

const TYPES = { '.html': 'text/html', '.mjs': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' };

export async function serve(folder, port = 0) {
  const server = createServer(async (asked, answer) => {
    const path = normalize(decodeURIComponent(new URL(asked.url, 'http://localhost').pathname));
    try {
      const bytes = await readFile(join(folder, path.endsWith('/') ? `${path}index.html` : path));
      answer.writeHead(200, { 'content-type': TYPES[extname(path) || '.html'] ?? 'application/octet-stream' });
      answer.end(bytes);
    } catch {
      answer.writeHead(404);
      answer.end();
    }
  });
  await new Promise((ready) => server.listen(port, 'localhost', ready));
  return { url: `http://localhost:${server.address().port}`, end: () => server.close() };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  console.log((await serve(process.argv[2] ?? '.', Number(process.argv[3] ?? 0))).url);
