import assert from 'node:assert/strict'
import { it } from 'node:test'
import { addWorkspace } from '../../ground/database/per-tenant/fixture.ts'
import { openForRaces } from '../../ground/database/race-fixture.ts'
import { memberStore } from '../people/members/store.ts'
import { peopleStore } from '../people/store.ts'
import { joinInvited } from './invitations.ts'
import type { NewInvitation } from './store.ts'
import { invitationStore } from './store.ts'

const tenant = 'wrkspc_a'
const email = 'invited@example.com'

const invitation: NewInvitation = {
  ...{ email, isMailed: false, token: 'a token', invitedBy: null },
  role: 'member',
  expiresAt: Date.now() + 60_000,
}

it('an invitation that is withdrawn during the sign-in of its person makes no member', async () => {
  await using at = await openForRaces()
  const { database, race } = at
  await addWorkspace(database, tenant)
  const { id, person } = await database.write(async (tx) => ({
    id: (await invitationStore(tx).create(tenant, invitation, Date.now())).id,
    person: await peopleStore(tx).create(
      { email, name: 'Invited', isEmailVerified: true, isOperator: false, passwordHash: 'none' },
      Date.now(),
    ),
  }))
  const outcomes = await race(
    (tx) => invitationStore(tx).remove(tenant, id),
    (tx) => joinInvited(tx, { id: person, email }, Date.now()),
  )
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  )
  assert.deepEqual(await memberStore(database.read).list(tenant), [])
})
