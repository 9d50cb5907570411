/** People at two servers, which share one Postgres. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { accept, cookieOf, firstLink, password, personAt } from './people.ts'
import type { TestService } from './service.ts'
import { besideService, boot } from './service.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

describe('sign-in at two servers of one Postgres', () => {
  let [one, other]: [TestService | undefined, TestService | undefined] = [undefined, undefined]
  const email = 'ada@example.com'
  const nobody = { 'x-api-key': '' }
  const both = () => {
    assert.ok(one && other)
    return [one, other] as const
  }
  before(async () => {
    const url = await newPostgresUrl()
    one = await boot('postgres', { env: { DATABASE_URL: url } })
    other = await boot('postgres', { env: besideService(url, one) })
    await accept(one, firstLink(one), { email })
  })
  after(async () => {
    await one?.close()
    await other?.close()
  })

  verifies(
    ['auth/cookie/checked-live', 'sign-in/sign-out'],
    'a cookie of one holds at the other, and no longer than until the sign-out',
    async () => {
      const [here, there] = both()
      const path = '/v1/ext/auth/sign_in'
      const { headers } = await here.ask('POST', path, { email, password }, nobody)
      const cookie = cookieOf(headers)
      const [atHere, atThere] = [personAt(here, cookie), personAt(there, cookie)]
      assert.equal((await atThere.ask('GET', '/v1/agents')).status, 200)
      assert.equal((await atThere.ask('POST', '/v1/ext/auth/sign_out')).status, 204)
      assert.equal((await atHere.ask('GET', '/v1/agents')).status, 401)
    },
  )

  verifies(
    'sign-in/code/once',
    'a code signs in once, whichever of them is asked at the same time',
    async () => {
      const [here, there] = both()
      await here.ask('POST', '/v1/ext/auth/code', { email }, nobody)
      await until(() => here.logged.some((line) => line.includes('Your code is')))
      const letter = here.logged.findLast((line) => line.includes('Your code is')) ?? ''
      const code = /\b\d{6}\b/.exec(letter)?.[0] ?? ''
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? here : there).ask(
            'POST',
            '/v1/ext/auth/sign_in/code',
            { email, code },
            nobody,
          ),
        ),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    },
  )

  verifies('sign-in/first-owner', 'of the links that both have shown one opens', async () => {
    const [, there] = both()
    const eve = { token: firstLink(there), email: 'eve@example.com', name: 'Eve', password }
    const answer = await there.ask('POST', '/v1/ext/auth/invitation', eve, nobody)
    assert.equal(answer.status, 409)
  })
})
