import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { claimHead } from '../../ground/database/lease.ts'
import { openForRaces } from '../../ground/database/race-fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { readHead } from '../../sessions/log/head.ts'
import { postEvents } from '../../sessions/events/post.ts'
import { newSession } from '../../sessions/fixture.ts'
import { archiveSession } from '../../sessions/update.ts'
import { nextStep } from './steps.ts'

const message = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'x' }] }

describe('on Postgres, where units run at the same time', () => {
  it('a runner that is about to rest sees the message that is being accepted', async () => {
    await using at = await openForRaces()
    const { database } = at
    const session = await newSession(database)
    const { self: owner } = database.owners
    const fence = await database.write((tx) => claimHead(tx, session, { owner, dead: [], now: 0 }))
    assert.ok(fence)
    const lease = { tenant, session, fence }
    const [posted, step] = await at.race(
      (tx) => postEvents(tx, tenant, session, [message], 0),
      (tx) => nextStep(tx, lease, { now: 0, claimed: true }),
    )
    assert.equal(posted.status, 'fulfilled')
    assert.ok(step.status === 'fulfilled' && step.value.kind === 'turn')
    assert.equal((await readHead(database.read, tenant, session)).due, 1)
  })

  it('a message that is accepted while its session is archived is refused', async () => {
    await using at = await openForRaces()
    const session = await newSession(at.database)
    const [archived, posted] = await at.race(
      (tx) => archiveSession(tx, tenant, session, 0),
      (tx) => postEvents(tx, tenant, session, [message], 0),
    )
    assert.equal(archived.status, 'fulfilled')
    assert.ok(posted.status === 'rejected')
    assert.match(String(posted.reason), /is archived/)
  })

  it('a session is archived once, whoever asks at the same time', async () => {
    await using at = await openForRaces()
    const { database } = at
    const session = await newSession(database)
    const results = await at.race(
      (tx) => archiveSession(tx, tenant, session, 0),
      (tx) => archiveSession(tx, tenant, session, 0),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    )
    assert.equal((await readHead(database.read, tenant, session)).next_seq, 1)
  })
})
