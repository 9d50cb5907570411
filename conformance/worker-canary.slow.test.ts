/**
 * Secrets of every kind that a session on a worker can use: an agent looks for them, and the worker's machine has none.
 */
import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { openSync, readSync, closeSync, readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Canary } from './canaries/canary.ts'
import { canaryOf, foundIn, foundInFolder } from './canaries/canary.ts'
import { finderOf } from './canaries/finder.ts'
import { ask, inspect, toolsOf } from './canaries/script.ts'
import type { CanarySecrets } from './canaries/secrets.ts'
import {
  authsOf,
  cardsOf,
  newSecrets,
  referringAuth,
  serversOf,
  settingsOf,
} from './canaries/secrets.ts'
import type { EchoingUpstream } from './canaries/upstream.ts'
import { echoingUpstream } from './canaries/upstream.ts'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import { connect } from 'node:net'
import type { TestService } from './service.ts'
import { boot } from './service.ts'
import { fresh, logOf, post } from './turns.ts'
import { verifies } from './verifies.ts'
import type { WorkerProcess } from './worker-process.ts'
import { startWorker, workerVariables } from './worker-process.ts'
import type { WorkerPool } from './workers.ts'
import { newPool, poll, sessionIn, tokenOf } from './workers.ts'

const patience = { timeout: 240_000 }

/** The ids of a process and of all its descendants, from `/proc`. */
async function descendants(of: number): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    parents.set(Number(name), Number(/\) \S (\d+)/.exec(stat)?.[1] ?? 0))
  }
  const all = [of]
  for (const each of all)
    for (const [child, parent] of parents) if (parent === each) all.push(child)
  return all
}

const largestRange = 64 << 20

/** Yields a process's variables, its command line and its writable memory. */
function* contentOf(pid: number): Generator<Buffer> {
  for (const name of ['environ', 'cmdline']) yield readFileSync(`/proc/${pid}/${name}`)
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const range = /^([\da-f]+)-([\da-f]+) rw/.exec(line)
      if (!range) continue
      const [from = 0, to = 0] = range.slice(1).map((text) => Number.parseInt(text, 16))
      for (let at = from; at < to; at += largestRange) {
        const bytes = Buffer.alloc(Math.min(largestRange, to - at))
        try {
          yield bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, at))
        } catch (error) {
          // Guard pages and pages that were never touched cannot be read.
          if (!/EIO|EFAULT/.test(String(error))) throw error
        }
      }
    }
  } finally {
    closeSync(memory)
  }
}

function foundInProcess(canaries: readonly Canary[], pid: number): string[] {
  const hits = new Set<string>()
  const find = finderOf(canaries)
  try {
    for (const content of contentOf(pid))
      for (const name of find(content)) hits.add(`${name} in process ${pid}`)
  } catch (error) {
    // The process has ended.
    if (!/ENOENT|ESRCH/.test(String(error))) throw error
  }
  return [...hits]
}

describe('canaries of a worker', patience, () => {
  let secrets: CanarySecrets
  let upstream: EchoingUpstream
  let service: TestService
  let worker: WorkerProcess
  let pool: WorkerPool
  let session: string
  let canaries: Canary[]
  let given: object
  before(async () => {
    secrets = newSecrets()
    const issued = {
      for: secrets.oauthRefresh.secret,
      access: secrets.issuedAccess.secret,
      refresh: secrets.issuedRefresh.secret,
    }
    const manager = { token: secrets.managerToken.secret, secret: secrets.companyBearer.secret }
    upstream = await echoingUpstream(issued, manager, new Map())
    const outside = {
      connect: connectTo(upstream),
      dial: async () => connect(upstream.port, '127.0.0.1'),
    }
    const { API_KEY: _key, ...settings } = settingsOf(secrets, upstream.port)
    const env = { ...settings, WORKER_INPUTS: 'repositories' }
    service = await boot('sqlite', { env, overrides: { nameOverride: outside } })
    await service.ask('POST', '/v1/ext/model_cards', cardsOf(secrets, upstream.port).taken)
    const auths = authsOf(secrets) as { type: string }[]
    const vault = await service.ask('POST', '/v1/vaults', {
      name: fresh('vault'),
      credentials: [...auths, referringAuth]
        .filter(({ type }) => type !== 'command_secret')
        .map((auth) => ({ auth })),
    })
    pool = await newPool(service)
    const agent = { tools: toolsOf(), mcp_servers: serversOf(secrets) }
    given = { vault_ids: [vault.body.id] }
    const idle = { WORKER_IDLE_SECONDS: '600' }
    worker = await startWorker({ ...workerVariables(service, pool), ...idle })
    session = await sessionIn(service, pool, agent, given)
    for (const text of [inspect, `${ask}\nrun: cat out/*`]) {
      const stream = await service.client.beta.sessions.events.stream(session)
      await post(service, session, text)
      for await (const event of stream)
        if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break
    }
    canaries = Object.values(secrets)
  }, patience)
  after(async () => {
    await worker[Symbol.asyncDispose]()
    await service.close()
    await upstream[Symbol.asyncDispose]()
  })

  it('reach the upstreams that they are for', () => {
    const all = upstream.whole.join('\n')
    for (const key of ['bearer', 'cli', 'variable', 'issuedAccess'] as const)
      assert.equal(foundIn([secrets[key]], '', all).length, 1, key)
  })

  verifies(
    ['worker/input/repository-credential', 'secrets/vault-tokens', 'egress/fence/no-token'],
    'are in no file of the worker, nor in the memory of its processes or of those in its sandbox',
    async () => {
      const { hits, files } = await foundInFolder(canaries, worker.dir)
      assert.deepEqual(hits, [])
      assert.ok(
        files.some((path) => path.endsWith('plain.body')),
        files.join('\n'),
      )
      const pid = worker.pid
      const processes = await descendants(pid)
      assert.ok(processes.length >= 3, String(processes))
      assert.deepEqual(
        processes.flatMap((each) => foundInProcess(canaries, each)),
        [],
      )
      assert.deepEqual(foundIn(canaries, 'what it said', worker.said()), [])
      assert.deepEqual(
        foundIn(canaries, 'the log', JSON.stringify(await logOf(service, session))),
        [],
      )
      const control = canaryOf('the environment’s key', pool.key)
      const seen = processes.flatMap((each) => foundInProcess([control], each))
      assert.ok(seen.length >= 2, seen.join('\n'))
    },
  )

  verifies(
    ['worker/input/repository-credential', 'worker/input/mcp-proxy-url'],
    'are neither in the session as its worker reads it nor in the secret of its work',
    async () => {
      const other = await newPool(service)
      const repository = {
        ...{ type: 'github_repository', url: 'https://github.com/one/two' },
        authorization_token: secrets.repository.secret,
      }
      const agent = { mcp_servers: serversOf(secrets) }
      const own = await sessionIn(service, other, agent, { ...given, resources: [repository] })
      const item = await poll(service, other)
      const token = tokenOf(item?.secret ?? '')
      const headers = { 'x-api-key': '', authorization: `Bearer ${token}` }
      const told = await Promise.all(
        [
          `/v1/sessions/${own}`,
          `/v1/sessions/${own}/events`,
          `/v1/ext/egress/${own}/authorities`,
        ].map(async (path) => (await service.raw('GET', path, undefined, headers)).text()),
      )
      assert.match(told[0] ?? '', /mcp-proxy/)
      const secret = Buffer.from(item?.secret ?? '', 'base64url').toString()
      assert.deepEqual(foundIn(canaries, 'what it is told', [secret, ...told].join('\n')), [])
    },
  )
})
