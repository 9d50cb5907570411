import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { mailServer } from '../mail-server.ts'
import { accept, firstLink, password } from '../people.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type RefusedSignIn = { error?: { message: string } }

const email = 'ada@example.com'
const nobody = { 'x-api-key': '' }

describe('sign-in with settings', () => {
  verifies(
    ['settings/mail', 'invitations/mail', 'settings/session-secret'],
    'letters are sent by SMTP_URL, and cookies behind TLS are for TLS alone',
    async () => {
      await using mail = await mailServer()
      const env = {
        SMTP_URL: mail.url,
        PUBLIC_URL: 'https://steward.example/',
        SESSION_SIGNING_SECRET: 'a secret of its own for cookies',
      }
      const service = await boot('sqlite', { env })
      try {
        const owner = await accept(service, firstLink(service), { email })
        assert.match(owner.cookie, /^__Host-steward_session=/)
        const as = { origin: 'https://steward.example' }
        const invited = { email: 'Cy@example.com', role: 'member' }
        const made = await owner.ask<{ url: string; mailed: boolean }>(
          'POST',
          '/v1/ext/invitations',
          invited,
          as,
        )
        assert.equal(made.body.mailed, true, JSON.stringify(made.body))
        await until(() => mail.letters.length === 1)
        assert.ok(mail.letters[0]?.includes(made.body.url))
        assert.match(mail.letters[0] ?? '', /From: Steward <steward@example\.com>/)
        assert.match(made.body.url, /^https:\/\/steward\.example\/signin\/invitation#/)
        await service.ask('POST', '/v1/ext/auth/code', { email }, nobody)
        await until(() => mail.letters.length === 2)
        assert.ok(!service.logged.some((line) => line.includes('Your code is')))
      } finally {
        await service.close()
      }
    },
  )

  verifies(
    ['sign-in/limits/account', 'sign-in/limits/letters', 'sign-in/limits/fair'],
    'guesses at one person from many addresses end, and shut the person out of no network of their own',
    async () => {
      const env = { TRUSTED_PROXIES: '127.0.0.1,::1', RATE_LIMITS: 'mail:5/m' }
      const service = await boot('sqlite', { env })
      try {
        await accept(service, firstLink(service), { email, name: 'Ada' })
        const at = (from: string) => ({ ...nobody, 'x-forwarded-for': from })
        const ask = (path: string, body: object, from: string) =>
          service.ask<RefusedSignIn>('POST', `/v1/ext/auth${path}`, body, at(from))
        const home = '192.0.2.7'
        assert.equal((await ask('/sign_in', { email, password }, home)).status, 200)
        for (const victim of [email, 'nobody@example.com']) {
          const statuses: number[] = []
          for (let n = 0; n < 12; n++) {
            const guess = { email: victim, password: `guess number ${n}` }
            statuses.push((await ask('/sign_in', guess, `198.51.100.${n}`)).status)
          }
          assert.equal(
            statuses.slice(0, 9).every((each) => each === 401),
            true,
            statuses.join(),
          )
          assert.equal(statuses.at(-1), 429)
        }
        const elsewhere = await ask('/sign_in', { email, password }, '203.0.113.1')
        assert.equal(elsewhere.status, 429)
        assert.match(elsewhere.body.error?.message ?? '', /sign in with a code, or try again in/)
        assert.equal((await ask('/sign_in', { email, password }, home)).status, 200)

        const letters: number[] = []
        for (let n = 0; n < 6; n++)
          letters.push((await ask('/code', { email: 'bea@example.com' }, `198.51.100.${n}`)).status)
        assert.deepEqual(letters, [200, 200, 200, 200, 200, 429])
      } finally {
        await service.close()
      }
    },
  )

  verifies(
    'sign-in/usual-passwords',
    'a password that strangers try first is refused',
    async () => {
      const service = await boot('sqlite')
      try {
        const body = { token: firstLink(service), email, name: 'Ada', password: 'Password2026!' }
        const refused = await service.ask<RefusedSignIn>(
          'POST',
          '/v1/ext/auth/invitation',
          body,
          nobody,
        )
        assert.equal(refused.status, 400)
        assert.match(refused.body.error?.message ?? '', /^password: is one of the first/)
        const ada = await accept(service, firstLink(service), { email, name: 'Ada' })
        const change = { current_password: password, new_password: 'qwertyuiop123' }
        assert.equal((await ada.ask('POST', '/v1/ext/auth/password', change)).status, 400)
      } finally {
        await service.close()
      }
    },
  )

  verifies(
    ['sign-in/limits', 'limits/rate/address', 'limits/rate/failures', 'settings/trusted-proxies'],
    'attempts to sign in, letters, guesses of a password and failed keys are limited by address, also behind a proxy',
    async () => {
      const env = {
        RATE_LIMITS: 'sign_in:3/h,mail:2/h,failures:2/h',
        TRUSTED_PROXIES: '127.0.0.1,::1',
      }
      const service = await boot('sqlite', { env })
      try {
        const by = (key: string, from: string) =>
          service.ask('GET', '/v1/agents', undefined, {
            ...{ 'x-api-key': key, 'x-forwarded-for': `6.6.6.6, ${from}` },
          })
        const failures: number[] = []
        for (let tries = 0; tries < 3; tries++)
          failures.push((await by('sk-wrong', '192.0.2.1')).status)
        assert.deepEqual(failures, [401, 401, 429])
        assert.equal((await by('sk-wrong', '192.0.2.2')).status, 401)
        assert.equal((await by(adminKey, '192.0.2.1')).status, 200)
        const ada = await accept(service, firstLink(service), { email, name: 'Ada' })
        const guess = async (from: string) => {
          const body = { current_password: 'not the password', new_password: 'x'.repeat(12) }
          const headers = { 'x-forwarded-for': from }
          return (await ada.ask('POST', '/v1/ext/auth/password', body, headers)).status
        }
        const guesses: number[] = []
        for (let tries = 0; tries < 4; tries++) guesses.push(await guess(`192.0.2.1${tries}`))
        assert.deepEqual(guesses, [403, 403, 403, 429])
        const ask = async (path: string, body: object) =>
          (await service.ask('POST', `/v1/ext/auth${path}`, body, elsewhere)).status
        const elsewhere = { ...nobody, 'x-forwarded-for': '192.0.2.50' }
        const statuses: number[] = []
        for (let tries = 0; tries < 4; tries++)
          statuses.push(await ask('/sign_in', { email: 'bea@example.com', password }))
        assert.deepEqual(statuses, [401, 401, 401, 429])
        assert.equal(await ask('/code', { email }), 200)
        assert.equal(await ask('/reset', { email }), 200)
        assert.equal(await ask('/code', { email: 'bea@example.com' }), 429)
      } finally {
        await service.close()
      }
    },
  )
})
