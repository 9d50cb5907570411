/** Clients renew their logins while one of two servers on a Postgres is killed again and again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isLongRun, newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { logIn, refreshed } from './oauth.ts'
import { accept, firstLink, personAt } from './people.ts'
import type { ServerProcess } from './process.ts'
import { startServer } from './process.ts'
import { clientsOf } from './service.ts'
import { verifies } from './verifies.ts'

const kills = isLongRun ? 40 : 6
/** Twice as long as an exchange takes, so that some kills find it ended, and some not begun. */
const longestMs = 24

async function tokensIn(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ n: string }>(
      `select count(*) as n from oauth_tokens where kind = 'refresh' and exchanged_at is null`,
    )
    return Number(rows[0]?.n)
  } finally {
    await client.end()
  }
}

/** The next refresh token that an exchange has given; undefined where the server died first. */
const tryExchange = (base: string, token: string): Promise<string | undefined> =>
  refreshed(base, token).then(
    ({ body }) => body.refresh_token,
    () => undefined,
  )

describe('the exchange of refresh tokens', () => {
  verifies(
    ['logins/refresh/repeated', 'logins/refresh'],
    'goes on after any kill with one next token, by whichever server, and never locks a client out',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-logins-'))
      const url = await newPostgresUrl()
      const blobs = { type: 'disk', dir: join(folder, 'blobs') }
      const env = (n: number) => ({
        DATA_DIR: join(folder, `data-${n}`),
        DATABASE_URL: url,
        STORE_BACKENDS: JSON.stringify({ blobs }),
      })
      const kept = await startServer(env(0))
      let mortal: ServerProcess | undefined
      try {
        mortal = await startServer(env(1))
        const service = clientsOf(kept.base)
        const owner = await accept(service, firstLink({ logged: [kept.said()] }), {
          email: 'owner@example.com',
        })
        const workspace = (await service.ask('GET', '/v1/organizations/me')).body.id
        let token = (await logIn(kept.base, personAt(service, owner.cookie), workspace))
          .refresh_token
        let answered = 0
        for (let n = 0; n < kills; n++) {
          const lost = tryExchange(mortal.base, token)
          const beside = Math.random() < 0.5 ? tryExchange(kept.base, token) : undefined
          await sleep(Math.random() * longestMs)
          await mortal.kill()
          const seen = [await lost, await beside].filter((each) => each !== undefined)
          answered += seen.length
          const again = await refreshed(kept.base, token)
          assert.equal(again.status, 200, JSON.stringify(again.body))
          assert.deepEqual(new Set([...seen, again.body.refresh_token]).size, 1)
          assert.equal(await tokensIn(url), 1, 'one line of tokens')
          const headers = { 'x-api-key': '', authorization: `Bearer ${again.body.access_token}` }
          assert.equal((await service.ask('GET', '/v1/ext/me', undefined, headers)).status, 200)
          token = again.body.refresh_token
          mortal = await startServer(env(1))
        }
        assert.ok(answered > 0, 'no kill left an answer')
        const { body } = await service.ask('GET', '/v1/ext/api_keys?limit=100')
        assert.equal(body.data.filter((each) => each['kind'] === 'oauth').length, 1)
      } finally {
        await mortal?.kill()
        await kept.kill()
        await rm(folder, { recursive: true, force: true })
      }
    },
  )
})
