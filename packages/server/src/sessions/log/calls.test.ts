import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EventOf, NewEvent } from '@steward/protocol/events.ts'
import { sql } from 'kysely'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { findCall, isOpenForPerson, openCalls, startCalls, waitsForPerson } from './calls.ts'
import { keepEvents, insertHead, agentMessage, tenant } from './fixture.ts'
import { lastInterrupt } from './inbox-end.ts'

const use = (evaluated_permission: 'allow' | 'ask'): EventOf<'agent.tool_use'> => ({
  id: newId('event'),
  type: 'agent.tool_use',
  name: 'bash',
  input: {},
  evaluated_permission,
})
const custom = (): EventOf<'agent.custom_tool_use'> => ({
  id: newId('event'),
  type: 'agent.custom_tool_use',
  name: 'mine',
  input: {},
})
const result = (tool_use_id: string): NewEvent => ({
  id: newId('event'),
  type: 'agent.tool_result',
  tool_use_id,
})
const answered = (custom_tool_use_id: string): NewEvent => ({
  id: newId('event'),
  type: 'user.custom_tool_result',
  custom_tool_use_id,
})
const confirmed = (
  tool_use_id: string,
  decision: 'allow' | 'deny',
  deny_message?: string,
): NewEvent => ({
  id: newId('event'),
  type: 'user.tool_confirmation',
  tool_use_id,
  result: decision,
  ...(deny_message === undefined ? {} : { deny_message }),
})

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`calls on ${dialect}`, () => {
    it('have the state that their event gives them, in the order they were made', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const [one, two, three] = [use('ask'), custom(), use('allow')]
      const none = { deny_message: null, thread_id: null }
      await keepEvents(database, session, [agentMessage('x'), one, two, three])
      const calls = await openCalls(database.read, tenant, session)
      assert.deepEqual(
        calls.map((call) => ({ ...call })),
        [
          { event_id: one.id, type: one.type, seq: 2, state: 'asked', ...none },
          { event_id: two.id, type: two.type, seq: 3, state: 'waiting', ...none },
          { event_id: three.id, type: three.type, seq: 4, state: 'started', ...none },
        ],
      )
    })

    it('are allowed or denied by a confirmation, begun, and done by their result', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const [yes, no, mute] = [use('ask'), use('ask'), use('ask')]
      await keepEvents(database, session, [yes, no, mute])
      await keepEvents(database, session, [
        confirmed(yes.id, 'allow'),
        confirmed(no.id, 'deny', 'not now'),
      ])
      await keepEvents(database, session, [confirmed(mute.id, 'deny')])
      const states = async () =>
        (await openCalls(database.read, tenant, session)).map((call) => [
          call.state,
          call.deny_message,
        ])
      assert.deepEqual(await states(), [
        ['allowed', null],
        ['denied', 'not now'],
        ['denied', ''],
      ])
      await database.write((tx) => startCalls(tx, session, [yes.id]))
      await database.write((tx) => startCalls(tx, session, []))
      assert.deepEqual((await states())[0], ['started', null])
      await keepEvents(database, session, [result(yes.id), result(no.id)])
      assert.deepEqual(await states(), [['denied', '']])
      const call = await findCall(database.read, tenant, session, yes.id)
      assert.equal(call?.state, 'done')
    })

    it('may be made and answered in one append', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const call = custom()
      await keepEvents(database, session, [call, answered(call.id)])
      assert.deepEqual(await openCalls(database.read, tenant, session), [])
    })

    it('of an MCP tool ask, are confirmed, and are done by a result of their own', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const names = { mcp_server_name: 'files', mcp_tool_name: 'echo' }
      const call = { ...use('ask'), ...names, type: 'agent.mcp_tool_use' as const }
      await keepEvents(database, session, [call])
      const [waiting] = await openCalls(database.read, tenant, session)
      assert.deepEqual([waiting?.state, waiting?.type], ['asked', 'agent.mcp_tool_use'])
      await keepEvents(database, session, [confirmed(call.id, 'allow')])
      const done = { id: newId('event'), type: 'agent.mcp_tool_result' as const }
      await keepEvents(database, session, [{ ...done, mcp_tool_use_id: call.id }])
      assert.deepEqual(await openCalls(database.read, tenant, session), [])
    })

    it('stay done, whatever comes later', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const call = use('ask')
      await keepEvents(database, session, [call, result(call.id)])
      await keepEvents(database, session, [confirmed(call.id, 'allow')])
      assert.equal((await findCall(database.read, tenant, session, call.id))?.state, 'done')
    })

    it('wait for the same people by their rows as by their events', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const ofWorker = (permission: 'allow' | 'ask') =>
        ({ ...use(permission), executed_by: 'worker' }) as const
      const confirmedCall = ofWorker('ask')
      const calls = [custom(), use('ask'), ofWorker('ask'), ofWorker('allow'), confirmedCall]
      await keepEvents(database, session, [...calls, confirmed(confirmedCall.id, 'allow')])
      assert.deepEqual(
        (await openCalls(database.read, tenant, session)).map(isOpenForPerson),
        calls.map((call) => waitsForPerson(call, call === confirmedCall)),
      )
    })

    it('belong to one session of one tenant', async () => {
      await using opened = await open()
      const { database } = opened
      const [mine, other] = [await insertHead(database), await insertHead(database)]
      const call = custom()
      await keepEvents(database, mine, [call])
      await keepEvents(database, other, [answered(call.id)])
      assert.equal((await openCalls(database.read, tenant, mine)).length, 1)
      assert.equal(await findCall(database.read, tenant, other, call.id), undefined)
      assert.equal(await findCall(database.read, 'wrkspc_other', mine, call.id), undefined)
      assert.deepEqual(await openCalls(database.read, 'wrkspc_other', mine), [])
    })
  })
}

/** How Postgres runs the statement that it keeps for a text, whatever its values. */
async function keptPlan(run: (db: Queries) => Promise<unknown>, text: string): Promise<string> {
  await using opened = await databases.postgres()
  return await opened.database.write(async (tx) => {
    await sql`set local plan_cache_mode = force_generic_plan`.execute(tx)
    await sql`set local enable_seqscan = off`.execute(tx)
    await run(tx)
    const kept = await sql<{ name: string; count: number }>`
      select name, cardinality(parameter_types) as count from pg_prepared_statements
      where statement like ${`%${text}%`}`.execute(tx)
    const [{ name, count } = assert.fail('nothing is kept')] = kept.rows
    const values = Array.from({ length: count }, () => 'null').join(', ')
    const explained = sql.raw(`explain execute ${name}(${values})`)
    const plan = await sql<{ 'QUERY PLAN': string }>`${explained}`.execute(tx)
    return plan.rows.map((row) => row['QUERY PLAN']).join('\n')
  })
}

describe('a plan that Postgres keeps', () => {
  it('finds open calls and interrupts by their own index, however many others there are', async () => {
    const calls = await keptPlan((db) => openCalls(db, tenant, 'sesn_1'), 'from "calls"')
    assert.match(calls, /calls_open/)
    const interrupts = await keptPlan((db) => lastInterrupt(db, tenant, 'sesn_1'), 'user.interrupt')
    assert.match(interrupts, /inbox_interrupts/)
  })
})

describe('a call', () => {
  it('waits for a person without a result of a custom tool, or without a confirmation', () => {
    const ofWorker = (permission: 'allow' | 'ask') =>
      ({ ...use(permission), executed_by: 'worker' }) as const
    assert.equal(waitsForPerson(custom(), false), true)
    for (const call of [use('ask'), ofWorker('ask')]) {
      assert.equal(waitsForPerson(call, false), true)
      assert.equal(waitsForPerson(call, true), false)
    }
    for (const call of [use('allow'), ofWorker('allow'), agentMessage('x')])
      assert.equal(waitsForPerson(call, false), false)
  })
})
