import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { FoundEvent } from '@steward/protocol/found-events.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Database } from '../../../ground/database/database.ts'
import { everyShape } from '../../../ground/database/shapes-fixture.ts'
import { newSession } from '../../fixture.ts'
import { appendEntries } from '../../log/append.ts'
import { agentMessage, insertHead, keepEvents, tenant } from '../../log/fixture.ts'
import { takeWaiting } from '../../log/inbox.ts'
import { ranCall, text } from '../fixture.ts'
import { postInUnits } from '../post.ts'
import type { EventSearch } from './find-events.ts'
import { findEvents } from './find-events.ts'
import { textSearch } from './text-search.ts'

type Asked = Partial<Omit<EventSearch, 'text'>> & { q?: string }

/** Follows a search through all its pages. */
async function findAll(database: Database, sessionId: string, { q, ...asked }: Asked) {
  const events: FoundEvent[] = []
  let from: number | undefined
  for (let pages = 1; ; pages++) {
    const { found, next } = await findEvents(
      database.read,
      { tenant, session: sessionId },
      {
        text: q === undefined ? undefined : textSearch(q),
        errors: false,
        tool: undefined,
        thread: undefined,
        order: 'asc',
        limit: 50,
        ...asked,
        from,
      },
    )
    events.push(...found)
    if (next === undefined) return { events, pages }
    from = next
  }
}
const seqs = async (...[database, session, asked]: Parameters<typeof findAll>) =>
  (await findAll(database, session, asked)).events.map(({ seq }) => seq)

const call = (name: string, input: Record<string, unknown> = {}) => ({ ...ranCall(), name, input })
const resultOf = (id: string, words: string, is_error = false): NewEvent => ({
  id: newId('event'),
  type: 'agent.tool_result',
  tool_use_id: id,
  content: text(words),
  is_error,
})

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a search in a log on ${dialect}`, () => {
    it('finds texts as they were written, whatever JSON makes of them', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const written = [
        'plain words',
        'say "hi" to them',
        'line one\nline two',
        String.raw`C:\new\table`,
        'Größe und ÄRGER',
        '100%_done!',
        'tab\there',
        '\u001b[31mred\u001b[0m',
        'smile 😀 there',
      ]
      await keepEvents(database, session, written.map(agentMessage))
      for (const [index, asked] of [
        'PLAIN Words',
        'SAY "HI"',
        'one\nline',
        String.raw`c:\NEW`,
        'ärger',
        '100%_DONE!',
        'tab here',
        '\u001b[31mRED',
        '😀',
      ].entries())
        assert.deepEqual(await seqs(database, session, { q: asked }), [index + 1], asked)
      for (const none of ['100X', 'plain_words', 'text', 'nowhere', String.raw`\nline`])
        assert.deepEqual(await seqs(database, session, { q: none }), [], none)
      const [first] = (await findAll(database, session, { q: 'WORDS' })).events
      assert.deepEqual(first?.excerpt, {
        at: '/content/0/text',
        index: 6,
        before: 'plain ',
        text: 'words',
        after: '',
      })
    })

    it('finds by tool, by failure and by thread, the newest first or the oldest', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const [bash, read] = [call('bash', { command: 'npm test' }), call('read', { path: '/a' })]
      const mcp: NewEvent = {
        ...call('mcp__files__search'),
        type: 'agent.mcp_tool_use',
        mcp_server_name: 'files',
        mcp_tool_name: 'search',
      }
      await keepEvents(database, session, [
        bash,
        read,
        resultOf(read.id, 'the word'),
        resultOf(bash.id, `${'x'.repeat(9_000)}\nthe word\n[exit 1]`, true),
        mcp,
        {
          id: newId('event'),
          type: 'session.error',
          error: { type: 'unknown_error', message: 'broken', retry_status: { type: 'terminal' } },
        },
        agentMessage('{"is_error":true}'),
      ])
      const child = agentMessage('the word of a child')
      await database.write((tx) =>
        appendEntries(tx, tenant, session, [{ event: child, thread: 'sthr_1' }], { now: 0 }),
      )
      assert.deepEqual(await seqs(database, session, { tool: 'bash' }), [1, 4])
      assert.deepEqual(await seqs(database, session, { tool: 'search' }), [5])
      assert.deepEqual(await seqs(database, session, { tool: 'mcp__files__search' }), [5])
      assert.deepEqual(await seqs(database, session, { errors: true }), [4, 6])
      assert.deepEqual(await seqs(database, session, { errors: true, tool: 'bash' }), [4])
      assert.deepEqual(await seqs(database, session, { q: 'the word' }), [3, 4, 8])
      assert.deepEqual(await seqs(database, session, { q: 'the word', order: 'desc' }), [8, 4, 3])
      assert.deepEqual(await seqs(database, session, { q: 'the word', thread: 'sthr_1' }), [8])
      assert.deepEqual(await seqs(database, session, { q: 'the word', thread: null }), [3, 4])
      assert.deepEqual(await seqs(database, session, { q: 'the word', tool: 'read' }), [3])
      const { events } = await findAll(database, session, { errors: true })
      assert.deepEqual(
        events.map(({ tool, is_error }) => [tool, is_error]),
        [
          ['bash', true],
          [null, true],
        ],
      )
      assert.ok(events[0]?.excerpt?.before.endsWith('[exit 1]'))
      const { events: ofChild } = await findAll(database, session, { q: 'child' })
      assert.equal(ofChild[0]?.session_thread_id, 'sthr_1')
      for (const order of ['asc', 'desc'] as const) {
        const { events: all, pages } = await findAll(database, session, {
          q: 'word',
          limit: 1,
          order,
        })
        assert.deepEqual([all.length, pages], [3, 3])
      }
    })

    it('finds in messages that are stored in pieces', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const long = `${'🙂'.repeat(1_000_000)} the needle`
      const clock = { ...systemClock, now: () => 0 }
      await postInUnits(database, { tenant, session, clock }, [
        { type: 'user.message', content: text(long) },
      ])
      await database.write(async (tx) => {
        const entries = await takeWaiting(tx, tenant, session, 100)
        await appendEntries(tx, tenant, session, entries, { now: 0 })
      })
      const { events } = await findAll(database, session, { q: 'NEEDLE' })
      assert.equal(events[0]?.type, 'user.message')
    })

    it('reads so much for a request and no more, and goes on with the next', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const long = 'x'.repeat(1_000_000)
      for (let part = 0; part < 20; part++)
        await keepEvents(
          database,
          session,
          [1, 2, 3, 4].map(() => agentMessage(long)),
        )
      await keepEvents(database, session, [agentMessage('needle')])
      const { events, pages } = await findAll(database, session, { q: 'needle' })
      assert.deepEqual([events.map(({ seq }) => seq), pages], [[81], 2])
    })
  })
}
