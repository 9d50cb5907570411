/** A coordinator and three children are in tool calls while their server is killed again and again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLongRun } from '@steward/server/ground/database/fixture.ts'
import { checkStream, followTurns } from './openai-streams.ts'
import { settingsIn, startServer } from './process.ts'
import type { StreamReader } from './reader.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { all, fresh, post, say, textOf, turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

/** Ten rounds of ten kills make 200 kills on both databases together in the long run. */
const rounds = isLongRun ? 10 : 1
const kills = 10
const members = ['one', 'two', 'three']
const callsOfEach = 4
/** Half as long again as a turn of the team, so that some kills find the team at rest. */
const longestLifeMs = 900

const labels = (member: string) => Array.from({ length: callsOfEach }, (_, n) => `${member}-${n}`)

const task = [
  ...members.map((member) => {
    const commands = labels(member).map((label) => `run: sleep 0.02; echo ${label} >> notes`)
    const message = [...commands, `say: ${member} is done`].join('\n')
    return `call create_agent ${JSON.stringify({ agent: member, message })}`
  }),
  'call wait_for_agents {}',
].join('\n')

/** Creates the coordinator. */
async function newBoss({ client }: ServiceClients) {
  const tools = [{ type: 'agent_toolset_20260401' as const }]
  const agents: string[] = []
  for (const name of members)
    agents.push((await client.beta.agents.create({ name, model: 'offline', tools })).id)
  const multiagent = { type: 'coordinator' as const, agents }
  const of = { name: 'boss', model: 'offline', tools, multiagent }
  const { id: agent } = await client.beta.agents.create(of)
  const { id: environment_id } = await client.beta.environments.create({ name: fresh('e') })
  return { agent, environment_id }
}

const sorted = (list: readonly string[]) => list.toSorted()

async function threadsOf({ client }: ServiceClients, session_id: string) {
  const threads = await Array.fromAsync(client.beta.sessions.threads.list(session_id))
  return Promise.all(
    threads.map(async (thread) => {
      const listed = client.beta.sessions.threads.events.list(thread.id, { session_id })
      const events = (await Array.fromAsync(listed)).map((each) => ({ ...each }) as SeenEvent)
      return { ...thread, events }
    }),
  )
}

const itemDone = 'agent.session.turn.item.done'

const isAtRest = async (server: ServiceClients, session: string): Promise<boolean> =>
  (await say(server, session)).at(-1)?.type === 'session.status_idle'

/**
 * Waits until the session rests, then asserts that each message came once, each call ran at most once and has one
 * result.
 */
async function checkTeam(server: ServiceClients, session: string): Promise<void> {
  await until(() => isAtRest(server, session))
  const threads = await threadsOf(server, session)
  for (const { id, status, events } of threads) {
    const rests = all(events, 'session.thread_status_idle').findLast(
      (each) => each['session_thread_id'] === id,
    )
    assert.equal(status, 'idle')
    const stop = rests?.['stop_reason'] as { type: string } | undefined
    assert.ok(['end_turn', 'retries_exhausted'].includes(stop?.type ?? ''), JSON.stringify(rests))
  }
  const own = threads.map(({ id, parent_thread_id, events }) => ({
    id,
    events: events.filter((each) => parent_thread_id !== null || !each['session_thread_id']),
  }))
  const sent = own.flatMap(({ id, events }) =>
    all(events, 'agent.thread_message_sent').map((each) =>
      JSON.stringify([id, each['to_session_thread_id'], textOf(each)]),
    ),
  )
  const received = own.flatMap(({ id, events }) =>
    all(events, 'agent.thread_message_received').map((each) =>
      JSON.stringify([each['from_session_thread_id'], id, textOf(each)]),
    ),
  )
  assert.ok(sent.length >= 2)
  assert.deepEqual(sorted(received), sorted(sent))
  const events = own.flatMap((each) => each.events)
  const calls = all(events, 'agent.tool_use')
  const results = all(events, 'agent.tool_result')
  assert.deepEqual(
    sorted(results.map((each) => String(each['tool_use_id']))),
    sorted(calls.map(({ id }) => String(id))),
  )
  const read = all(await turn(server, session, 'run: cat notes'), 'agent.tool_result').at(-1)
  const notes = read === undefined ? '' : textOf(read)
  const written = notes.split('\n').filter((line) => /^(one|two|three)-\d$/.test(line))
  assert.equal(new Set(written).size, written.length, notes)
  const ended = new Set(
    results.filter((each) => !each['is_error']).map((each) => String(each['tool_use_id'])),
  )
  for (const call of calls) {
    const { command } = call['input'] as { command?: string }
    const label = /echo (\S+) >> notes/.exec(command ?? '')?.[1]
    if (label && ended.has(String(call.id)))
      assert.ok(written.includes(label), `${label} has a result, and is not in: ${notes}`)
  }
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`a team of a killed server on ${database}`, () => {
    for (let round = 1; round <= rounds; round++)
      verifies(
        ['threads/messages', 'threads/effects', 'openai/items/outlive'],
        `comes to rest after ${kills} kills: each message came once, each call ran once, and lists have what streams sent, ${round}`,
        async () => {
          const folder = await mkdtemp(join(tmpdir(), 'steward-team-'))
          const env = {
            ...(await settingsIn(folder, database)),
            SANDBOX_PROVIDER: 'local',
            EGRESS_PROFILE: 'best_effort',
          }
          let process = await startServer(env)
          let server = clientsOf(process.base)
          const boss = await newBoss(server)
          const sessions: string[] = []
          const streams = new Map<string, StreamReader[]>()
          const follow = async (session: string) =>
            streams.set(session, [
              ...(streams.get(session) ?? []),
              await followTurns(server, session),
            ])
          const hasTold = () =>
            [...streams.values()]
              .flat()
              .some(({ frames }) => frames.some(({ data }) => data.type === itemDone))
          for (let n = 0; n < kills; n++) {
            const last = sessions.at(-1)
            if (last === undefined || (await isAtRest(server, last))) {
              const { id } = await server.client.beta.sessions.create(boss)
              sessions.push(id)
              await follow(id)
              await post(server, id, task)
            } else await follow(last)
            // On a busy machine, no life may last until something is told.
            if (n === 0) await until(hasTold)
            await sleep(Math.random() * longestLifeMs)
            await process.kill()
            process = await startServer(env)
            server = clientsOf(process.base)
          }
          try {
            for (const session of sessions) await checkTeam(server, session)
            let told = 0
            for (const [session, readers] of streams)
              told += await checkStream(server, session, readers)
            assert.ok(told > 0)
          } finally {
            await process.kill()
          }
          await rm(folder, { recursive: true, force: true })
        },
      )
  })
}
