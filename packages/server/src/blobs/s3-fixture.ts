/** A store that speaks the S3 wire, in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { Agent } from 'undici'
import type { Bucket } from './s3-wire.ts'

/** `close` ends its connections too. */
export async function servedBucket(): Promise<{ bucket: Bucket; close(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'steward-s3-'))
  const name = 'steward-test'
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
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
