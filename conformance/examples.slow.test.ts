/** Runs programs as people write them with the official client, twice on one data folder. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { agents } from './examples/agents.ts'
import { agentsWithFiles } from './examples/agents-with-files.ts'
import { comprehensive } from './examples/comprehensive.ts'
import { observingToolCalls } from './examples/observing-tool-calls.ts'
import { selfHostedWorker } from './examples/self-hosted-worker.ts'
import { streamingDeltas } from './examples/streaming-deltas.ts'
import { workerDispatch } from './examples/worker-dispatch.ts'
import type { TestService } from './service.ts'
import { boot } from './service.ts'
import { verifies } from './verifies.ts'

describe('programs with the official client', () => {
  let folder: string
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'steward-examples-'))))
  after(() => rm(folder, { recursive: true, force: true }))

  for (const round of ['first', 'second']) {
    describe(`on a service that starts for the ${round} time`, { concurrency: true }, () => {
      let service: TestService
      before(async () => {
        const env = { DATA_DIR: folder, SANDBOX_DIR: join(folder, 'sandboxes') }
        service = await boot('sqlite', { env })
      })
      after(() => service.close())
      const workdir = async (name: string) => {
        const path = join(folder, name)
        await mkdir(path, { recursive: true })
        return path
      }

      verifies('versions/official-client', 'ask an agent', async () => {
        assert.deepEqual(await agents(service.client), {
          ...{ answer: 'Hello there', status: 'terminated' },
        })
      })

      verifies(
        ['versions/official-client', 'resources/file/resolved'],
        'give files to an agent',
        async () => {
          const { first, later, output, paths } = await agentsWithFiles(service.client)
          assert.match(first, /May,7\n%PDF-/)
          assert.match(later, /first line\nfirst line\n/)
          assert.match(later, /A file was given: \/workspace\/logs\/a\.log/)
          assert.equal(output, 'first line\n')
          assert.deepEqual(paths, ['data.csv', '/uploads/receipt.pdf'])
        },
      )

      verifies('versions/official-client', 'use all that an agent may have', async () => {
        const { session, tokens, answer, ...rest } = await comprehensive(service.client)
        assert.match(answer, /sunny in Berlin/)
        assert.match(answer, /Berlin[\s\S]*Berlin/)
        assert.ok(tokens > 0)
        assert.deepEqual(rest, {
          ...{ version: 2, status: 'idle', title: 'Done', metadata: {} },
          ...{ found: [session], paths: ['/away.md', '/home.md'], isWhole: true },
        })
      })

      verifies('versions/official-client', 'follow a message as it is written', async () => {
        const { text, written, whole } = await streamingDeltas(service.client)
        assert.equal(whole, text)
        assert.ok(written.length > 1)
        assert.ok(written.every((text) => whole.startsWith(text)))
      })

      verifies(
        ['versions/official-client', 'tools/custom/client-run'],
        'watch the calls of their tools',
        async () => {
          assert.deepEqual(await observingToolCalls(service.client), [
            { name: 'add', input: { a: 2, b: 3 }, isError: false, posted: true },
            { name: 'fail', input: {}, isError: true, posted: true },
          ])
        },
      )

      verifies(
        ['versions/official-client', 'service/workers/claim'],
        'serve an environment',
        async () => {
          const answer = await selfHostedWorker(service.client, await workdir('worker'))
          assert.match(answer, /made by a worker/)
        },
      )

      verifies(
        ['versions/official-client', 'service/workers/claim'],
        'dispatch work to workers',
        async () => {
          const { answer, ...rest } = await workerDispatch(service.client, await workdir('items'))
          assert.match(answer, /dispatched/)
          assert.deepEqual(rest, { depth: 0, isHandled: true })
        },
      )
    })
  }
})
