import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { Sealed } from '../../../ground/core/security/seal.ts'
import type { UpstreamListener } from '../fixture.ts'
import { echo } from '../fixture.ts'
import { bearerRow, readEcho, openTestContext } from '../inject/forward-fixture.ts'
import type { RepositoryToken } from './repository.ts'
import { findRepository } from './repository.ts'

/** The fixture does not encrypt: a sealed value is the value. */
const row = (url: string, token = 'canary-repository-token'): RepositoryToken => ({
  ...{ tenant_id: 'wrkspc_1', id: 'sesrsc_1', url },
  sealed_token: token as Sealed,
})
const url = 'https://api.example/one/project'
const found = (called: string, own = url) =>
  findRepository([row(own)], new URL(called)) !== undefined

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

describe("a repository's token", () => {
  it('goes with what git asks for just that repository', () => {
    for (const own of [url, `${url}.git`]) {
      for (const called of [
        `${url}/info/refs?service=git-receive-pack`,
        `${url}.git/info/refs?service=git-upload-pack`,
        `${url}.git/git-upload-pack`,
        `${url}/git-receive-pack`,
        `${url}.git/info/lfs/objects/batch`,
        `${url}.git/info/lfs/locks/12/unlock`,
      ])
        assert.ok(found(called, own), `${called} of ${own}`)
    }
  })

  it('goes nowhere else on the same host', () => {
    for (const called of [
      url,
      `${url}/`,
      `${url}/settings`,
      `${url}2/info/refs`,
      `${url}/../other/info/refs`,
      `${url}/..%2fother/info/refs`,
      `${url}/info/refs/..%2f..%2f..%2fuser`,
      `${url}/info/refs/extra`,
      `${url}/info/lfs/objects/batch/more`,
      `${url}.github/info/refs`,
      'https://api.example/user/info/refs',
      'https://api.example:8443/one/project/info/refs',
      'http://api.example/one/project/info/refs',
      'https://other.example/one/project/info/refs',
    ])
      assert.ok(!found(called), called)
  })

  it("comes before what the session's vaults have for the host, and in the form that git sends", async () => {
    const seen: (string | undefined)[] = []
    const listener: UpstreamListener = (request, response) => {
      seen.push(request.headers.authorization)
      return echo(request, response)
    }
    const pages = bearerRow('https://api.example/mcp', 'canary-of-a-vault')
    await using setup = await openTestContext([pages], listener, [row(url)])
    const headers: [string, string][] = [['authorization', 'Basic b3duOm93bg==']]
    const answer = await readEcho(setup.ask(`${url}.git/git-receive-pack`, { headers }))
    await readEcho(setup.ask(`${url}/pulls`, { headers }))
    assert.deepEqual(seen, [
      basic('x-access-token:canary-repository-token'),
      'Bearer canary-of-a-vault',
    ])
    assert.doesNotMatch(JSON.stringify(answer), /canary|Y2FuYXJ5/)
  })

  it('may have a user name of its own', async () => {
    const seen: (string | undefined)[] = []
    const listener: UpstreamListener = ({ headers: { authorization } }, response) => {
      seen.push(authorization)
      response.end(`${authorization} canary-password`)
    }
    await using setup = await openTestContext([], listener, [row(url, 'me:canary-password')])
    const { body } = await setup.ask(`${url}/git-upload-pack`)
    assert.doesNotMatch(await text(body), /canary|Y2FuYXJ5/)
    assert.deepEqual(seen, [basic('me:canary-password')])
  })
})
