/**
 * A workspace that attacks the server hardly slows the turns of another workspace. The server is its own process. The
 * test compares the times of turns beside an attack with the times of turns in quiet.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { EndlessAnswer } from './endless-endpoint.ts'
import { startEndlessEndpoint } from './endless-endpoint.ts'
import { attackByMcpServers } from './attack-by-mcp-servers.ts'
import type { HostileBucket } from './hostile-bucket.ts'
import { attackByBucket, startHostileBucket } from './hostile-bucket.ts'
import { hostileServers } from './hostile-mcp-server.ts'
import { isLongRun } from '@steward/server/ground/database/fixture.ts'
import type { ServerProcess } from './process.ts'
import { runServer, startServer } from './process.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf } from './service.ts'
import { fresh, newSession, post, turn } from './turns.ts'

/** Number of turns that are measured in quiet, and again beside an attack. */
const turns = 6
/** Number of repetitions after a measured delay. An attack causes its delay each time, and a busy machine does not. */
const repeats = 2
/** Milliseconds that the slowest turn beside an attack may take longer than the slowest turn in quiet. */
const added = 250
/** Milliseconds of a quiet turn. A slower machine gets proportionally more time beside the attack. */
const nominalTurn = 30
/** Number of sessions that the server runs at once. */
const hosts = 20

/**
 * Attacks until the signal ends the attack. Calls `took` when the server is under attack, which starts the measurement.
 */
type Attack = (attacker: ServiceClients, until: AbortSignal, took: () => void) => Promise<void>

/** Guards against an attack that never happens: `taken` rejects when nobody calls `took` in time. */
function proofOfAttack() {
  const { promise: taken, resolve: took, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => reject(new Error('the attack did not take place')), 45_000)
  return {
    taken,
    took: () => {
      clearTimeout(late)
      took()
    },
  }
}

/** Repeats an action, `atOnce` times in parallel, until the signal. Ignores refusals. */
async function flood(until: AbortSignal, atOnce: number, act: () => Promise<unknown>) {
  const one = async () => {
    while (!until.aborted) await act().catch(() => sleep(5))
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

const keyOf = ({ client }: ServiceClients) => String(client.apiKey)

const large = 'x'.repeat(900_000)
/** The body is a buffer, so that the measuring process does not encode it for each request. */
const deepBody = Buffer.from(`{"name":[${'[],'.repeat(10_000_000)}[]]}`)

const attacks: Record<string, Attack> = {
  async 'reads lists of its largest agents'(attacker, until, took) {
    const tool = { type: 'custom', name: 'wide', input_schema: { type: 'object' } }
    const body = { name: 'wide', model: 'offline', tools: [{ ...tool, description: large }] }
    const create = () => attacker.ask('POST', '/v1/agents', body)
    for (let made = 0; made < 60; made += 6)
      for (const { status } of await Promise.all(Array.from({ length: 6 }, create)))
        assert.equal(status, 200)
    const headers = { 'x-api-key': keyOf(attacker) }
    await flood(until, 3, async () => {
      const url = `${attacker.base}/v1/agents?limit=1000`
      const answer = await fetch(url, { headers, signal: until })
      let bytes = 0
      for await (const piece of answer.body ?? []) bytes += piece.byteLength
      if (bytes > large.length) took()
    })
  },

  async 'posts bodies of millions of values'(attacker, until, took) {
    const session = await newSession(attacker)
    const paths = ['/v1/agents', `/v1/sessions/${session}/events`]
    const headers = { 'x-api-key': keyOf(attacker), 'content-type': 'application/json' }
    await flood(until, 2, async () => {
      for (const path of paths) {
        const answer = await fetch(attacker.base + path, {
          method: 'POST',
          headers,
          body: deepBody,
        })
        if (/more than \d+ values/.test(await answer.text())) took()
        // The attacker pauses, because no tenant has a share of the processor. The test measures the delay of the event
        // loop.
        await sleep(100)
      }
    })
  },

  async 'starts more sessions than the server runs at once'(attacker, until, took) {
    const sessions = await Promise.all(
      Array.from({ length: 2 * hosts }, () => newSession(attacker)),
    )
    for (const session of sessions) await post(attacker, session, 'wait: 600000')
    took()
    await once(until, 'abort')
  },

  async 'replays a long session a hundred times'(attacker, until, took) {
    const session = await newSession(attacker)
    const text = `say: ${'word '.repeat(40_000)}`
    for (let written = 0; written < 9; written++) await turn(attacker, session, text)
    const headers = { 'x-api-key': keyOf(attacker) }
    await flood(until, 100, async () => {
      const path = `/v1/sessions/${session}/events/stream?replay=1`
      const answer = await fetch(attacker.base + path, { headers, signal: until })
      if (answer.status !== 200) throw new Error(await answer.text())
      let bytes = 0
      for await (const piece of answer.body ?? []) {
        bytes += piece.byteLength
        if (bytes <= 3_000_000) continue
        took()
        break
      }
    })
  },

  async 'names MCP servers that say nothing'(attacker, until, took) {
    const silent = createServer(() => {})
    silent.listen(modelPort, '127.0.0.1')
    await once(silent, 'listening')
    try {
      const servers = Array.from({ length: 8 }, (_, n) => ({
        ...{ name: `silent-${n}`, type: 'url' },
        url: `http://127.0.0.1:${modelPort}/${n}`,
      }))
      const sessions = await Promise.all(
        Array.from({ length: 2 * hosts }, () => newSession(attacker, { mcp_servers: servers })),
      )
      for (const session of sessions) await post(attacker, session, 'say: hello')
      await untilConnected(silent, hosts)
      took()
      await once(until, 'abort')
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  },
}

const largeMessages: Record<string, () => Buffer> = {
  'the longest messages there may be'() {
    const text = `say: hello ${'\\"'.repeat(4_194_000)}`
    return Buffer.from(
      `{"events":[{"type":"user.message","content":[{"type":"text","text":"${text}"}]}]}`,
    )
  },
  'the largest images there may be'() {
    const data = 'A'.repeat(24 * 1024 * 1024)
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    return Buffer.from(JSON.stringify({ events: [{ type: 'user.message', content: [image] }] }))
  },
}

/** A delta of 60 characters on three wires at once. */
const smallPiece = {
  ...{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(60) } },
  choices: [{ index: 0, delta: { content: 'x'.repeat(60) } }],
  candidates: [{ content: { parts: [{ text: 'x'.repeat(60) }] } }],
}

const hostileModels: Record<string, EndlessAnswer> = {
  'sends small pieces as fast as it can': { piece: `data: ${JSON.stringify(smallPiece)}\n\n` },
  'never ends a line': { begin: 'data: ', piece: large },
  'sends events as large as they may be': {
    piece: `data: {"a":[${'{},'.repeat(120_000)}"${large}"]}\n\n`,
  },
  'gives huge errors': { status: 500, type: 'application/json', piece: large },
}

/** Runs each case by itself in a long run, otherwise all cases together: a server and its quiet turns take seconds. */
const together = <T>(each: Record<string, T>): [title: string, T[]][] =>
  isLongRun
    ? Object.entries(each).map(([title, one]) => [title, [one]])
    : [[Object.keys(each).join(' and '), Object.values(each)]]

for (const [title, answers] of together(hostileModels))
  attacks[`names model endpoints, of which each ${title}`] = (attacker, until, took) =>
    attackByModel(attacker, until, took, answers)

for (const [title, names] of together(
  Object.fromEntries(hostileServers.map((name) => [name, name])),
))
  attacks[`names MCP servers of ${title}`] = (attacker, until, took) =>
    attackByMcpServers(modelPort, attacker, { until, took, names })

/** Attacks that need a server with other settings. */
const settings: Record<string, () => Record<string, string>> = {}
const ofBucket = 'stores files in a bucket that has turned hostile'
settings[ofBucket] = () => ({ STORE_BACKENDS: bucket.setting, EGRESS_ALLOW_PRIVATE: '127.0.0.0/8' })
attacks[ofBucket] = (attacker, until, took) => attackByBucket(bucket, attacker, { until, took })

for (const [title, makes] of together(largeMessages))
  attacks[`posts ${title}`] = async (attacker, until, took) => {
    const bodies = makes.map((make) => make())
    await Promise.all(bodies.map((body) => postAndRead(attacker, body)))
    took()
    const atOnce = Math.floor(3 / makes.length)
    await Promise.all(bodies.map((body) => flood(until, atOnce, () => postAndRead(attacker, body))))
  }

/** Rejects when fewer than `least` clients connect within 4 s. */
async function untilConnected(server: ReturnType<typeof createServer>, least: number) {
  for (let waited = 0; waited < 200; waited++) {
    const connections = await promisify(server.getConnections.bind(server))()
    if ((connections ?? 0) >= least) return
    await sleep(20)
  }
  throw new Error('the MCP servers were not connected to')
}

/** Posts to a new session, and reads the events of the turn as a stream and as a list. */
async function postAndRead(attacker: ServiceClients, body: Buffer): Promise<void> {
  const session = await newSession(attacker)
  const headers = { 'x-api-key': keyOf(attacker), 'content-type': 'application/json' }
  const events = `${attacker.base}/v1/sessions/${session}/events`
  const posted = await fetch(events, { method: 'POST', headers, body: new Uint8Array(body) })
  assert.equal(posted.status, 202, await posted.text())
  const read = await fetch(`${events}/stream?replay=1`, { headers })
  let end = ''
  for await (const piece of read.body ?? []) {
    end = (end + Buffer.from(piece).toString('latin1')).slice(-4_000)
    if (end.includes('"type":"session.status_idle"')) break
  }
  await (await fetch(events, { headers })).arrayBuffer()
  // The attacker pauses, because no tenant has a share of the processor. The test measures the delay of the event loop.
  await sleep(100)
}

const wires = [
  'anthropic-messages',
  'openai-completions',
  'openai-responses',
  'google-generative-ai',
]

/** Runs turns on hostile model endpoints, one for each wire, and posts to each session again and again. */
async function attackByModel(
  attacker: ServiceClients,
  until: AbortSignal,
  took: () => void,
  answers: readonly EndlessAnswer[],
): Promise<void> {
  const endpoint = await startEndlessEndpoint(modelPort, answers)
  const endpoints = answers.flatMap((_, at) => wires.map((api) => ({ at, api })))
  try {
    const sessions = await Promise.all(
      endpoints.map(async ({ at, api }) => {
        const model_id = fresh('endless')
        const card = await attacker.ask('POST', '/v1/ext/model_cards', {
          ...{ model_id, provider: 'nobody', model: 'm', api_key: 'sk-test-0123456789' },
          ...{ base_url: `http://127.0.0.1:${modelPort}/${at}`, native_config: { api } },
        })
        assert.equal(card.status, 200, JSON.stringify(card.body))
        return newSession(attacker, { model: { id: model_id } })
      }),
    )
    for (const session of sessions) await post(attacker, session, 'go')
    await endpoint.asked(sessions.length)
    took()
    await flood(until, 1, async () => {
      for (const session of sessions) await post(attacker, session, 'go')
      await sleep(100)
    })
  } finally {
    await endpoint.close()
  }
}

/** Returns a free port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
let modelPort = 0
let bucket: HostileBucket

/** The data folder with both workspaces. Each attack starts with a copy. */
let data = ''
let attackerKey = ''

async function makeData(): Promise<void> {
  data = await mkdtemp(join(tmpdir(), 'steward-neighbours-'))
  const env = { DATA_DIR: data }
  // The first start of a server creates the first workspace and its key.
  await (await startServer(env)).stop()
  const made = await runServer(['create-workspace', 'attacker'], env)
  attackerKey = (JSON.parse(made.stdout) as { key: string }).key
}

/** Starts a server for one attack, because sessions of an earlier attack would still hold places. */
async function withServer(
  env: Record<string, string>,
  use: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-neighbours-'))
  await cp(data, folder, { recursive: true })
  try {
    await using server = await startServer({
      DATA_DIR: folder,
      RUNNER_SESSIONS: String(hosts),
      EGRESS_TENANT_TARGETS: `127.0.0.1:${modelPort}`,
      ...env,
    })
    await use(server)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Duration of the slowest call, in milliseconds. */
async function slowestOf(calls: number, between: number, call: () => Promise<unknown>) {
  let slowest = 0
  for (let measured = 0; measured < calls; measured++) {
    const began = performance.now()
    await call()
    slowest = Math.max(slowest, performance.now() - began)
    await sleep(between)
  }
  return slowest
}

type TurnTimes = { turn: number; health: number }

/** Measures turns of the quiet workspace, and health checks at the same time. */
async function measure(
  quiet: ServiceClients,
  session: string,
  between: number,
): Promise<TurnTimes> {
  const health = slowestOf(turns * 5, between / 5, async () => {
    assert.equal((await fetch(`${quiet.base}/healthz`)).status, 200)
  })
  const turned = await slowestOf(turns, between, () => turn(quiet, session, 'say: hello'))
  return { turn: turned, health: await health }
}

describe('beside a workspace that', () => {
  before(async () => {
    modelPort = await freePort()
    bucket = await startHostileBucket()
    await makeData()
  })
  after(async () => {
    await bucket[Symbol.asyncDispose]()
    await rm(data, { recursive: true, force: true })
  })

  for (const [title, attack] of Object.entries(attacks)) {
    it(`${title}, a turn of another one is hardly slower`, (t) =>
      withServer(settings[title]?.() ?? {}, async (server) => {
        const quiet = clientsOf(server.base)
        const session = await newSession(quiet)
        await turn(quiet, session, 'say: first')
        const alone = await measure(quiet, session, 20)
        const end = new AbortController()
        const proof = proofOfAttack()
        const attacking = attack(clientsOf(server.base, attackerKey), end.signal, proof.took)
        // When the attack fails, the test fails with the error of the attack.
        await Promise.race([proof.taken, attacking.then(() => proof.taken)])
        const room = added * Math.max(1, alone.turn / nominalTurn)
        const isSlow = (measured: TurnTimes) =>
          measured.turn - alone.turn > room || measured.health - alone.health > room
        let beside = await measure(quiet, session, 60)
        for (let again = 0; again < repeats && isSlow(beside); again++)
          beside = await measure(quiet, session, 60)
        end.abort()
        await attacking
        t.diagnostic(
          `quiet/attack: turn ${Math.round(alone.turn)}/${Math.round(beside.turn)} ms, health ${Math.round(alone.health)}/${Math.round(beside.health)} ms`,
        )
        for (const each of ['turn', 'health'] as const)
          assert.ok(
            beside[each] - alone[each] <= room,
            `${each}: ${Math.round(beside[each])} ms beside the attack, ${Math.round(alone[each])} ms in quiet`,
          )
      }))
  }
})
