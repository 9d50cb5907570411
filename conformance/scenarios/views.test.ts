import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { Overview } from '@steward/protocol/session-summaries.ts'
import type { ViewShown } from '@steward/protocol/saved-views.ts'
import type { PersonClient } from '../people.ts'
import { accept, firstLink } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

const path = '/v1/ext/views'
type Views = { data: ViewShown[] }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`views that a person saves for the pages of a workspace, on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    let ahead = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      service = await boot(database, { overrides: { clock } })
      owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
    })
    after(() => service.close())

    const workspaceOf = async (person: PersonClient) =>
      (await person.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')).body
        .active_workspace_id
    const joined = async (email: string) =>
      accept(service, await service.invite(await workspaceOf(owner), 'viewer'), { email })
    const idOf = async (person: PersonClient) =>
      (await person.ask<{ user: { id: string } }>('GET', '/v1/ext/me')).body.user.id
    const names = async ({ ask }: Pick<PersonClient, 'ask'>) =>
      (await ask<Views>('GET', path)).body.data.map(({ name, filters }) => [name, filters])
    const view = (name: string, filters = 'text=a') => ({ name, noun: 'sessions', filters })

    verifies(
      ['views/list', 'views/save', 'views/delete', 'views/owner'],
      'views are saved by name, each person and the keys have their own, and they go with the person',
      async () => {
        const bea = await joined('bea@example.com')
        const made = await bea.ask<ViewShown>('POST', path, view('Mine', 'waiting_on=person'))
        assert.equal(made.status, 200, JSON.stringify(made.body))
        await owner.ask('POST', path, view('Of Ada'))
        const byKey = await service.ask<ViewShown>('POST', path, view('Of keys'))
        assert.deepEqual(await names(bea), [['Mine', 'waiting_on=person']])
        assert.deepEqual(await names(owner), [['Of Ada', 'text=a']])
        assert.deepEqual(await names(service as Pick<PersonClient, 'ask'>), [['Of keys', 'text=a']])

        const again = await bea.ask<ViewShown>('POST', path, view('Mine', 'failed=true'))
        assert.equal(again.body.id, made.body.id)
        assert.deepEqual(await names(bea), [['Mine', 'failed=true']])
        assert.equal((await owner.ask('DELETE', `${path}/${made.body.id}`)).status, 404)
        assert.equal((await service.raw('DELETE', `${path}/${byKey.body.id}`)).status, 200)

        for (let n = 1; n < 50; n++) await bea.ask('POST', path, view(`view ${n}`))
        const beyond = await bea.ask('POST', path, view('one more'))
        assert.equal(beyond.status, 400)
        assert.match(JSON.stringify(beyond.body), /name: there are 50 views already/)
        assert.equal((await bea.ask('POST', path, view('Mine', 'x'))).status, 200)
        assert.equal((await bea.ask('POST', path, { ...view('x'), noun: 'cats' })).status, 400)

        const left = () =>
          service.database.read.selectFrom('saved_views').select('owner_id').execute()
        const id = await idOf(bea)
        assert.equal((await left()).filter(({ owner_id }) => owner_id === id).length, 50)
        await owner.ask('DELETE', `/v1/ext/members/${id}`)
        assert.deepEqual(
          (await left()).filter(({ owner_id }) => owner_id === id),
          [],
        )
      },
    )

    verifies(
      ['views/looked', 'sessions/overview/since'],
      'the overview counts since the person has last looked',
      async () => {
        const cy = await joined('cy@example.com')
        const since = async ({ ask }: Pick<PersonClient, 'ask'>, query = '') =>
          Date.parse((await ask<Overview>('GET', `/v1/ext/overview${query}`)).body.failed.since)
        const day = 24 * 60 * 60 * 1000
        const isAbout = (at: number, wanted: number) =>
          assert.ok(Math.abs(at - wanted) < 30_000, `${at - wanted} ms`)
        isAbout(await since(cy), Date.now() + ahead - day)
        type LookedBody = { last_looked_at: string; before: string | null }
        const first = await cy.ask<LookedBody>('POST', '/v1/ext/me/looked')
        assert.equal(first.status, 200, JSON.stringify(first.body))
        assert.equal(first.body.before, null)
        ahead += 3 * day
        assert.equal(await since(cy), Date.parse(first.body.last_looked_at))
        isAbout(await since(owner), Date.now() + ahead - day)
        isAbout(await since(service as Pick<PersonClient, 'ask'>), Date.now() + ahead - day)
        const asked = new Date(Date.now() + ahead - 60_000).toISOString()
        assert.equal(await since(cy, `?since=${asked}`), Date.parse(asked))
        const second = await cy.ask<LookedBody>('POST', '/v1/ext/me/looked')
        assert.equal(second.body.before, first.body.last_looked_at)
        const byKey = await service.ask('POST', '/v1/ext/me/looked')
        assert.equal(byKey.status, 403)
      },
    )
  })
}
