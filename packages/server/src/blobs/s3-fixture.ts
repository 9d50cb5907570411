/** A store that speaks the S3 wire, in a folder of its own. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import type { Bucket } from './s3-wire.ts'

type S3rver = new (options: {
  address: string
  port: number
  silent: boolean
  directory: string
  configureBuckets: { name: string }[]
}) => { run(): Promise<AddressInfo>; close(): Promise<void>; httpServer: Server }

const S3rver = createRequire(import.meta.url)('s3rver') as S3rver

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
