import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dockerSandboxes } from './docker.ts'

const spec = {
  ...{ id: 'one', workspace: '/nowhere', outputs: '/nowhere', isPrefilled: false, env: {} },
  limits: { memory: 1, processes: 1, cpus: 1, scratch: 1, file: 1 },
  ...{ egress: null, mounts: [] },
}
const provider = (allowed?: string[]) =>
  dockerSandboxes({
    name: 'docker',
    socket: '/no/engine',
    image: 'own',
    ...(allowed && { allowed }),
  })

describe('images that sandboxes may name', () => {
  it('are those that are listed, where there is a list', async () => {
    const some = provider(['alpine:3', 'registry.example/team/*'])
    for (const image of ['alpine:3', 'registry.example/team/a', 'registry.example/team/b/c:1'])
      assert.equal(some.refuseImage(image), undefined, image)
    for (const image of [
      'alpine',
      'alpine:33',
      'own',
      'registry.example/teams/a',
      '10.0.0.1:5000/a',
    ]) {
      assert.match(some.refuseImage(image) ?? '', /none of the images/, image)
      await assert.rejects(some.acquire({ ...spec, image }), /none of the images/)
      await assert.rejects(some.imageOf(image), /none of the images/)
    }
    await assert.rejects(some.acquire(spec), /no\/engine/)
    assert.equal(provider().refuseImage('registry.example/teams/a'), undefined)
  })
})
