/** Environments that name an image, on a server whose sandboxes an engine starts. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { enginePlace, startEngine, testImage } from '@steward/sandbox/docker/fixture.ts'
import type { Service } from '../service.ts'
import { boot } from '../service.ts'
import { all, fresh, newSession, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const place = enginePlace('podman')
/** Nobody listens there. */
const registry = '127.0.0.1:9'

describe('base images', () => {
  let service: Service
  let stop: () => Promise<void>
  before(async () => {
    const engine = await startEngine('podman', place, registry)
    stop = () => engine.stop()
    const env = {
      SANDBOX_PROVIDER: 'podman',
      SANDBOX_SOCKET: place.socket,
      SANDBOX_IMAGE: testImage,
      EGRESS_PROFILE: 'required',
    }
    service = await boot('sqlite', { env })
  })
  after(async () => {
    await service.close()
    await stop()
  })

  async function run(base_image: string | null, command: string): Promise<string> {
    const made = await service.ask('POST', '/v1/environments', { name: fresh('env'), base_image })
    const tools = [{ type: 'agent_toolset_20260401' }]
    const id = await newSession(service, { tools }, { environment_id: made.body.id })
    const seen = await turn(service, id, `call bash ${JSON.stringify({ command })}`)
    return all(seen, 'agent.tool_result').map(textOf).join('\n')
  }

  verifies(
    'environments/base-image/used',
    'commands run in the image of the environment, and in the operator’s without one',
    async () => {
      const command = 'echo "$OF_THE_IMAGE"; ls -d /kept; pwd; cat /proc/net/dev | wc -l'
      const expected = 'yes\n/kept\n/workspace\n3\n'
      assert.equal(await run(null, command), expected)
      assert.equal(await run(`docker.io/library/${testImage}:latest`, command), expected)
    },
  )

  verifies(
    'environments/base-image/missing',
    'an image that cannot be had is named in the result of the call, and what is none in the answer',
    async () => {
      const said = await run(`${registry}/no/such:image`, 'echo ran')
      assert.match(said, /image 127\.0\.0\.1:9\/no\/such:image cannot be fetched: /)
      assert.doesNotMatch(said, /ran/)
      await assert.rejects(run('../containers/json?', 'echo ran'), /environment\.base_image/)
    },
  )

  verifies(
    ['sessions/not-yet/packages', 'environments/packages/failed'],
    'packages are installed in the image, by what it has, and those of the system are its own',
    async () => {
      const make = async (packages: object) => {
        const made = await service.ask('POST', '/v1/environments', { name: fresh('env'), packages })
        const tools = [{ type: 'agent_toolset_20260401' }]
        return newSession(service, { tools }, { environment_id: made.body.id })
      }
      const seen = await turn(
        service,
        await make({ npm: ['tiny-npm'] }),
        'call bash {"command":"true"}',
      )
      assert.match(JSON.stringify(seen), /packages of npm could not be installed.*there is no npm/)
      await assert.rejects(make({ apt: ['jq'] }), /environment\.packages\.apt: .* image/)
    },
  )
})
