/** Packages of environments, from the registries that this machine reaches. */
import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { fresh, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

/** A resolver that is silent for a moment answers a later question. */
async function addressesOf(host: string, tries = 5): Promise<LookupAddress[]> {
  try {
    return await lookup(host, { all: true })
  } catch (error) {
    if (tries <= 1 || (error as NodeJS.ErrnoException).code !== 'EAI_AGAIN') throw error
    return addressesOf(host, tries - 1)
  }
}

describe('packages of public registries', () => {
  let service: TestService
  before(async () => {
    const hosts = ['registry.npmjs.org', 'deb.debian.org', 'security.debian.org']
    const found = await Promise.all(hosts.map((host) => addressesOf(host)))
    // The registries may resolve to a mirror in a private network.
    const addresses = found.flat().map(({ address }) => address)
    const ranges = ['127.0.0.0/8', ...new Set(addresses)].join(',')
    service = await boot('sqlite', { env: { EGRESS_ALLOW_PRIVATE: ranges } })
  })
  after(() => service.close())

  verifies(
    'environments/packages/installed',
    'programs of apt and npm run, with the libraries and files they need, and no trace of their installation remains',
    async () => {
      const packages = { apt: ['toilet', 'figlet', 'jq'], npm: ['is-number@7.0.0', 'semver@7.7.2'] }
      const made = await service.ask('POST', '/v1/environments', { name: fresh('env'), packages })
      const tools = [{ type: 'agent_toolset_20260401' }]
      const id = await newSession(service, { tools }, { environment_id: made.body.id })
      const command = [
        `echo '{"a": "of jq"}' | jq -r .a`,
        'ldd $(readlink -f $(which toilet)) | grep -c "not found"',
        'toilet --version | head -1',
        'figlet -v | head -1',
        'semver 1.2.3',
        `node -p 'require("is-number")(3)'`,
        'ls /opt/packages',
      ].join('\n')
      const seen = await turn(service, id, `call bash ${JSON.stringify({ command })}`)
      const said = textOf(only(seen, 'agent.tool_result')).split('\n')
      assert.match(said[2] ?? '', /TOIlet/)
      assert.match(said.slice(3).join('\n'), /FIGlet[^]*1\.2\.3\ntrue\nnpm/)
      assert.deepEqual(said.slice(0, 2), ['of jq', '0'])
    },
  )
})
