import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError, NotFoundError } from '@anthropic-ai/sdk'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession } from '../turns.ts'
import { verifies } from '../verifies.ts'

const type = 'github_repository'
const url = 'https://git.example/one/repository'
const token = 'canary-token-of-a-repository'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`repositories of sessions on ${database}`, () => {
    let service: TestService
    before(async () => {
      const env = { REPOSITORY_HOSTS: 'git.example,*.elsewhere.example' }
      service = await boot(database, { env })
    })
    after(() => service.close())
    const create = (...resources: object[]) => newSession(service, {}, { resources })
    const attached = () => service.client.beta.sessions.resources
    const listed = (session: string) => Array.fromAsync(attached().list(session))
    const refused = async (resource: object, words: RegExp) =>
      assert.rejects(
        create({ type, ...resource }),
        (error) => error instanceof BadRequestError && words.test(error.message),
        JSON.stringify(resource),
      )

    verifies(
      ['resources/repository', 'resources/rotate-token'],
      'a repository is shown without its token, which can be replaced and never read',
      async () => {
        const checkout = { type: 'branch', name: 'next/one' }
        const session = await create({ type, url, authorization_token: token, checkout })
        const [found] = await listed(session)
        assert.ok(found?.type === type)
        const { id, created_at, updated_at } = found
        assert.match(id, /^sesrsc_/)
        const mount_path = '/workspace/repository'
        const resolved_path = mount_path
        const whole = { id, type, url, mount_path, resolved_path, checkout, created_at, updated_at }
        assert.deepEqual(found, whole)
        const params = { session_id: session }
        assert.deepEqual(await attached().retrieve(id, params), whole)
        const shown = await service.client.beta.sessions.retrieve(session)
        assert.deepEqual(shown.resources, [whole])
        const another = { ...params, authorization_token: `${token}-2` }
        const changed = await attached().update(id, another)
        assert.deepEqual({ ...changed, updated_at }, whole)
        assert.ok(!JSON.stringify([found, shown, changed, service.logged]).includes(token))
        await assert.rejects(attached().delete(id, params), BadRequestError)
        const { key } = await service.otherWorkspace('theirs')
        const path = `/v1/sessions/${session}/resources/${id}`
        const headers = { 'x-api-key': key }
        const { status } = await service.ask('POST', path, { authorization_token: 'x' }, headers)
        assert.equal(status, 404)
      },
    )

    verifies(
      ['resources/repository', 'resources/repository/address'],
      'only https addresses that name a repository on a host of the operator are taken',
      async () => {
        const at = (path: string) => `https://git.example${path}`
        await refused({ url: 'http://git.example/a/b' }, /https/)
        await refused({ url: 'ssh://git@git.example/a/b' }, /https/)
        await refused({ url: 'git@git.example:a/b' }, /https/)
        await refused({ url: `https://x:${token}@git.example/a/b` }, /authorization_token/)
        await refused({ url: at('/a/b?x') }, /query/)
        await refused({ url: at('/a/b#x') }, /fragment/)
        await refused({ url: 'https://127.0.0.1/a/b' }, /address/)
        await refused({ url: 'https://git.example:22/a/b' }, /port/)
        await refused({ url: 'https://elsewhere.example/a/b' }, /clones from/)
        for (const path of ['', '/', '/.git', '/a/%2e%2e%2fb', '/a/b%00', '/a\\b%5cc', '/a//b'])
          await refused({ url: at(path) }, /repository/)
        const session = await create(
          { type, url: 'https://deep.elsewhere.example/a/b.git/' },
          { type, url: at('/org/my%20project/_git/thing') },
          { type, url: 'https://GIT.example:443/a/../c.d' },
        )
        const shown = await service.client.beta.sessions.retrieve(session)
        assert.deepEqual(
          shown.resources.map((each) => each.type === type && [each.url, each.mount_path]),
          [
            ['https://deep.elsewhere.example/a/b.git', '/workspace/b'],
            [at('/org/my%20project/_git/thing'), '/workspace/thing'],
            [at('/c.d'), '/workspace/c.d'],
          ],
        )
      },
    )

    verifies(
      ['resources/repository', 'resources/repository/fixed'],
      'its path is below the working folder and its own, and repositories are declared with the session alone',
      async () => {
        await refused({ url, mount_path: '/home/user/x' }, /below \/workspace/)
        await refused({ url, mount_path: '/workspace' }, /below \/workspace/)
        await refused({ url, mount_path: '/workspace/../etc' }, /segments/)
        await refused({ url, checkout: { type: 'commit', sha: 'abc' } }, /40/)
        await refused({ url, checkout: { type: 'tag', name: 'v1' } }, /checkout/)
        await refused({ url, authorization_token: 'two\nlines' }, /ASCII/)
        await assert.rejects(create({ type, url }, { type, url }), /collides/)
        await refused({ url, mount_path: '/mnt/session/uploads/x' }, /below \/workspace/)
        await refused({ url, mount_path: 'x//y' }, /segments/)
        const two = { type, url, mount_path: '/workspace/deep/er' }
        await assert.rejects(create(two, { type, url, mount_path: 'deep/er' }), /collides/)
        const three = { type, url, mount_path: 'src/app' }
        const session = await create({ type, url }, two, three)
        const kept = new Map(
          (await listed(session)).map((each) => [
            'mount_path' in each && each.mount_path,
            Reflect.get(each, 'resolved_path'),
          ]),
        )
        assert.deepEqual(Object.fromEntries(kept), {
          '/workspace/deep/er': '/workspace/deep/er',
          '/workspace/repository': '/workspace/repository',
          'src/app': '/workspace/src/app',
        })
        const body = { type, url, mount_path: '/workspace/third' }
        const path = `/v1/sessions/${session}/resources`
        const answer = await service.ask<LooseBody>('POST', path, body)
        assert.equal(answer.status, 400)
        await service.client.beta.sessions.delete(session)
        await assert.rejects(listed(session), NotFoundError)
      },
    )
  })
}
