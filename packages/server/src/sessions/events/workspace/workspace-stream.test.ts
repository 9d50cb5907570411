import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { unitOn } from '../../../ground/bus/fixture.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { newSession } from '../../fixture.ts'
import { appendEntries } from '../../log/append.ts'
import { agentMessage, keepEvents, tenant } from '../../log/fixture.ts'
import { announceChange } from '../../log/topics.ts'
import type { ChangeFollower } from './changes.ts'
import { positionText, readPosition } from './position.ts'
import { workspaceStream } from './workspace-stream.ts'

async function setup() {
  const opened = await databases.sqlite()
  const { bus } = opened
  const followers = new Set<ChangeFollower>()
  const gone = new AbortController()
  const position = { at: 36, sessions: new Map<string, number>() }
  const stream = workspaceStream(
    {
      id: 'strm_1',
      tenant,
      read: opened.database.read,
      bus,
      clock: systemClock,
      changes: {
        follow(_tenant, tell) {
          followers.add(tell)
          return () => followers.delete(tell)
        },
      },
    },
    position,
  )
  return {
    ...{ database: opened.database, bus, followers, gone, stream },
    texts: stream.texts(gone.signal, async () => {}),
    [Symbol.asyncDispose]: async () => {
      gone.abort()
      await opened[Symbol.asyncDispose]()
    },
  }
}

const fail = (error: unknown) => assert.fail(String(error))

void describe('one stream of a workspace', () => {
  void it('sends of several changes of one session the newest alone', async () => {
    await using here = await setup()
    here.stream.followWorkspace()
    await here.texts.next()
    const [tell] = here.followers
    tell?.([
      { id: 'a', text: '{"n":1}' },
      { id: 'b', text: '{"n":2}' },
    ])
    tell?.([{ id: 'a', text: '{"n":3}' }])
    const told = [(await here.texts.next()).value, (await here.texts.next()).value]
    assert.deepEqual(
      told.map((text) => /data: (.*)/.exec(String(text))?.[1]),
      ['{"n":2}', '{"n":3}'],
    )
  })

  void it('says that changes are missing when a reader is thousands behind', async () => {
    await using here = await setup()
    here.stream.followWorkspace()
    await here.texts.next()
    const [tell] = here.followers
    for (let n = 0; n <= 5_000; n++) tell?.([{ id: `session ${n}`, text: '{}' }])
    assert.match(String((await here.texts.next()).value), /"stream\.reset"/)
  })

  void it('reads the events of a session no further than its reader takes them', async () => {
    await using here = await setup()
    const session = await newSession(here.database)
    const events = Array.from({ length: 100 }, (_, index) => agentMessage(`message ${index}`))
    await keepEvents(here.database, session, events)
    await here.texts.next()
    here.stream.follow({ session_id: session }, 0, fail)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const first = String((await here.texts.next()).value)
    assert.equal(first.match(/^data: /gm)?.length, 16)
    let text = first
    while (!text.includes('message 99')) text += String((await here.texts.next()).value)
    assert.equal(text.match(/^data: /gm)?.length, 100)
    const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => String(id))
    assert.equal(readPosition(ids.at(-1) ?? '')?.sessions.get(session), 100)
  })

  void it('names the thread of an event, whatever its fields are called', async () => {
    await using here = await setup()
    const session = await newSession(here.database)
    const input = { nested: { session_thread_id: 'of the model' } }
    const call = { id: newId('event'), type: 'agent.custom_tool_use', name: 'look', input } as const
    const entries = [{ event: call, thread: 'sthr_1' }]
    await here.database.write((tx) => appendEntries(tx, tenant, session, entries, { now: 1 }))
    await here.texts.next()
    here.stream.follow({ session_id: session }, 0, fail)
    const [, data = ''] = /^data: (.*)$/m.exec(String((await here.texts.next()).value)) ?? []
    const shown = JSON.parse(data) as Record<string, unknown>
    assert.equal(shown['session_thread_id'], 'sthr_1')
    assert.deepEqual(shown['input'], input)
  })

  void it('follows nothing more when its reader has disconnected', async () => {
    await using here = await setup()
    const session = await newSession(here.database)
    here.stream.followWorkspace()
    here.gone.abort()
    await here.texts.return(undefined)
    here.stream.close()
    here.stream.follow({ session_id: session }, 0, fail)
    here.stream.followWorkspace()
    announceChange(unitOn(here.bus), tenant, session)
    assert.equal(here.followers.size, 0)
    assert.equal(here.stream.followed(), 0)
  })
})

void describe('the position of a reader', () => {
  void it('is read as it was written, and nothing else is', () => {
    const position = { at: 1_800_000_000_000, sessions: new Map([['sesn_0a', 7]]) }
    assert.deepEqual(readPosition(positionText(position)), position)
    for (const text of ['', 'x!', '1,', '1,sesn_0a', '1,sesn_0a:-1', `1,${'a'.repeat(99)}:1`])
      assert.equal(readPosition(text), undefined, text)
  })
})
