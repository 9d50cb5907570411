/** Upload and download of one large file, and the growth of the server's memory meanwhile, on a folder of blobs. */
import { Readable } from 'node:stream'
import { request } from 'undici'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { key, startServer } from '../processes.ts'

const size = 1_000_000_000
const rounds = 3
const piece = Buffer.alloc(256 * 1024, 'x')
const headers = { 'x-api-key': key }

const edge = 'a-boundary-of-the-bench'
const head = [
  `--${edge}`,
  'Content-Disposition: form-data; name="file"; filename="large.bin"',
  ...['Content-Type: application/octet-stream', '', ''],
].join('\r\n')

function* form(): Generator<Buffer> {
  yield Buffer.from(head)
  for (let left = size; left > 0; left -= piece.length) yield piece.subarray(0, left)
  yield Buffer.from(`\r\n--${edge}--\r\n`)
}

async function up(base: string): Promise<string> {
  const { statusCode, body } = await request(`${base}/v1/files`, {
    method: 'POST',
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${edge}` },
    body: Readable.from(form()),
    bodyTimeout: 0,
    headersTimeout: 0,
  })
  const answer = (await body.json()) as { id: string; size_bytes: number }
  if (statusCode !== 200 || answer.size_bytes !== size) throw new Error(JSON.stringify(answer))
  return answer.id
}

async function down(base: string, id: string): Promise<void> {
  const { body } = await request(`${base}/v1/files/${id}/content`, { headers })
  let seen = 0
  for await (const chunk of body as AsyncIterable<Buffer>) seen += chunk.length
  if (seen !== size) throw new Error(`${seen} bytes of ${size} came`)
}

export async function* largeFiles(
  dataDir: string,
  env: Record<string, string>,
): AsyncGenerator<Figure> {
  const room = { FILES_LARGEST_MB: '1000', FILES_WORKSPACE_MB: '10000' }
  const server = await startServer(dataDir, { ...env, ...room })
  const rates = { up: [] as number[], down: [] as number[] }
  let [before, most] = [0, 0]
  const sampling = setInterval(() => (most = Math.max(most, server.rss())), 20)
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now()
    const id = await up(server.base)
    const between = performance.now()
    await down(server.base, id)
    if (round > 0) {
      rates.up.push(size / 1e3 / (between - began))
      rates.down.push(size / 1e3 / (performance.now() - between))
    }
    await request(`${server.base}/v1/files/${id}`, { method: 'DELETE', headers })
    if (round === 0) most = before = server.rss()
  }
  clearInterval(sampling)
  await server.stop()
  yield { what: '1 GB uploaded', value: median(rates.up), unit: 'MB/s', goal: 200, rate: true }
  yield { what: '1 GB downloaded', value: median(rates.down), unit: 'MB/s', goal: 200, rate: true }
  const value = (most - before) / 1e6
  yield { what: 'memory meanwhile, at most, after the first', value, unit: 'MB', goal: 40 }
}
