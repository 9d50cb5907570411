/** A store with the S3 protocol, in its own folder. */
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { Agent, request } from 'undici'
import type { Bucket } from './s3-wire.ts'

/** `close` also ends the connections. `isBelieving`: the store accepts any secret. */
export async function servedBucket({
  directory = join(tmpdir(), `steward-s3-${randomUUID()}`),
  isBelieving = false,
} = {}): Promise<{ bucket: Bucket; close(): Promise<void> }> {
  await mkdir(directory)
  const name = 'steward-test'
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    allowMismatchedSignatures: isBelieving,
    directory,
    configureBuckets: [{ name }],
  })
  const { port } = await server.run()
  const dispatcher = new Agent()
  return {
    bucket: {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: name,
      region: 'us-east-1',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      pathStyle: true,
      retryMs: 1,
      dispatcher,
    },
    async close() {
      await dispatcher.destroy()
      server.httpServer.closeAllConnections()
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export async function* bytes(...each: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of each) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

/** Sends the signed request on to the store, and returns the whole answer. */
export async function passTo({ endpoint }: Bucket, incoming: IncomingMessage) {
  const { method = '', url = '' } = incoming
  const chunks = (await Array.fromAsync(incoming)) as Buffer[]
  const { connection: _, ...headers } = incoming.headers
  const isPlain = method === 'GET' || method === 'HEAD'
  const got = await request(endpoint + url, {
    method: method as 'GET',
    headers,
    body: isPlain ? null : Buffer.concat(chunks),
  })
  return { ...got, bytes: Buffer.from(await got.body.arrayBuffer()) }
}

/**
 * Starts a server in front of the store. Where `answer` returns a listener, the listener answers instead of the
 * store.
 */
export async function startInFrontOf(
  store: Bucket,
  answer: (at: { method: string; url: string }) => RequestListener | undefined,
) {
  const seen: string[] = []
  const front = createServer((incoming, outgoing) => {
    const { method = '', url = '' } = incoming
    seen.push(`${method} ${url.replace(/uploadId=\w+/, 'uploadId')}`)
    const instead = answer({ method, url })
    if (instead) return instead(incoming, outgoing)
    passTo(store, incoming).then(
      ({ statusCode, headers, bytes }) => outgoing.writeHead(statusCode, headers).end(bytes),
      (error: unknown) => outgoing.destroy(error as Error),
    )
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const { port } = front.address() as AddressInfo
  const bucket: Bucket & { prefix: string } = {
    ...store,
    prefix: '',
    endpoint: `http://127.0.0.1:${port}`,
  }
  return {
    bucket,
    seen,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections()
      await new Promise((resolve) => front.close(resolve))
    },
  }
}

export const answerStatus =
  (code: number, body = ''): RequestListener =>
  (incoming, outgoing) => {
    incoming.resume().once('end', () => outgoing.writeHead(code).end(body))
  }
