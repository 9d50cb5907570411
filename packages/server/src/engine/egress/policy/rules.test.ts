import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import { createEgressRules } from './rules.ts'

const open = { ...emptyEnvironment, name: 'test' }
const limited = { ...open, limited: true }
const why = (environment: typeof open, host: string, port = 443) =>
  createEgressRules(environment).outbound({ host, port })?.reason

describe('an environment’s rules', () => {
  it('let every name out where the network is not limited', () => {
    assert.equal(why(open, 'anything.example'), undefined)
    assert.equal(why(open, 'anything.example', 8443), undefined)
  })

  it('say whether a host, or some host below a suffix, may be reached', () => {
    const { mayReach } = createEgressRules({
      ...limited,
      allowlist: ['api.example', 'one.sub.example', '*.deep.example', '*.gone.example'],
      denylist: ['*.gone.example'],
    })
    const hosts = [
      'api.example',
      '*.Sub.example',
      '*.deep.example',
      '*.a.deep.example',
      '*.example',
    ]
    for (const host of hosts) assert.equal(mayReach(host), true, host)
    for (const host of ['other.example', '*.api.example', '*.gone.example', '10.0.0.1'])
      assert.equal(mayReach(host), false, host)
    assert.equal(createEgressRules(open).mayReach('*.anything.example'), true)
  })

  it('let nothing out where the network is limited to an empty list', () => {
    assert.equal(why(limited, 'anything.example'), 'not_allowed')
  })

  it('let everything else out where there is a denylist alone', () => {
    const denying = { ...open, denylist: ['*.bad.example', 'worse.example'] }
    assert.equal(why(denying, 'x.bad.example'), 'denied')
    assert.equal(why(denying, 'Worse.Example.'), 'denied')
    assert.equal(why(denying, 'bad.example'), undefined)
  })

  it('let the denylist win over the allowlist', () => {
    const both = { ...limited, allowlist: ['*.example'], denylist: ['bad.example'] }
    assert.equal(why(both, 'good.example'), undefined)
    assert.equal(why(both, 'bad.example'), 'denied')
    assert.equal(why(both, 'good.test'), 'not_allowed')
  })

  it('refuse bare addresses in every form, and ports of other protocols', () => {
    for (const host of ['127.0.0.1', '2130706433', '[::1]', '::1', '0x7f.1']) {
      assert.equal(why(open, host), 'bare_address', host)
    }
    assert.equal(why(open, 'mail.example', 25), 'port')
  })

  it('add the registries of package managers where the environment says so', () => {
    const building = { ...limited, allow_package_managers: true }
    assert.equal(why(building, 'pypi.org'), undefined)
    assert.equal(why({ ...building, denylist: ['pypi.org'] }, 'pypi.org'), 'denied')
    assert.equal(why(building, 'anything.example'), 'not_allowed')
  })

  it('keep MCP servers out of a limited environment that does not say otherwise, listed or not', () => {
    const url = new URL('https://mcp.example/')
    const listed = { ...limited, allowlist: ['mcp.example'] }
    assert.equal(createEgressRules(listed).server(url)?.reason, 'not_allowed')
    const allowing = { ...limited, allow_mcp_servers: true }
    assert.equal(createEgressRules(allowing).server(url), undefined)
    assert.equal(
      createEgressRules({ ...allowing, denylist: ['mcp.example'] }).server(url)?.reason,
      'denied',
    )
    assert.equal(createEgressRules(open).server(url), undefined)
  })
})
