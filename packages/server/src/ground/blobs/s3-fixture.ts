/** A store with the S3 protocol, in its own folder. */
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { Agent } from 'undici'
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
