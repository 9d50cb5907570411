import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EnvironmentDraft } from './draft.ts'
import { draftOf, updateOf } from './draft.ts'

const cloud = (more: object): EnvironmentDraft => ({
  name: 'python',
  config: { type: 'cloud', networking: { type: 'unrestricted' }, ...more },
})

void describe('the change that a form makes to an environment', () => {
  void it('is nothing where nothing differs', () => {
    assert.deepEqual(updateOf(cloud({}), cloud({})), {})
  })

  void it('has an empty list for a removed field, as an omitted field would stay', () => {
    const before: EnvironmentDraft = {
      ...cloud({ packages: { pip: ['rich'], apt: ['jq'] } }),
      network: { denylist: ['evil.example.com'] },
      env: { TZ: 'UTC' },
      metadata: { team: 'data', cost: 'low' },
      base_image: 'debian:13',
    }
    const after: EnvironmentDraft = {
      ...cloud({ packages: { apt: ['jq'] } }),
      metadata: { team: 'data' },
    }
    assert.deepEqual(updateOf(before, after), {
      config: { type: 'cloud', packages: { pip: [], apt: ['jq'] } },
      network: { denylist: [] },
      env: {},
      metadata: { team: 'data', cost: null },
      base_image: null,
    })
  })

  void it('closes a network for all that is not named', () => {
    const limited = cloud({ networking: { type: 'limited', allowed_hosts: ['a.example.com'] } })
    assert.deepEqual(updateOf(cloud({}), limited), {
      config: {
        type: 'cloud',
        networking: {
          type: 'limited',
          allowed_hosts: ['a.example.com'],
          allow_mcp_servers: false,
          allow_package_managers: false,
        },
      },
    })
    assert.deepEqual(updateOf(limited, cloud({})), {
      config: { type: 'cloud', networking: { type: 'unrestricted' } },
    })
  })

  void it('begins with the fields that were set', () => {
    const at = '2026-01-01T00:00:00Z'
    const times = { created_at: at, updated_at: at, archived_at: null }
    const packages = { type: 'packages' as const, pip: [], apt: ['jq'] }
    const shown = draftOf({
      ...{ id: 'env_1', type: 'environment', name: 'n', description: null, base_image: null },
      ...{ metadata: {}, env: {}, scope: 'organization', ...times },
      ...{ packages: {}, allow_mcp_servers: false },
      config: { type: 'cloud', networking: { type: 'unrestricted' }, packages },
      network: { allowlist: [], denylist: [] },
      packages: {},
      allow_mcp_servers: false,
    })
    assert.deepEqual(shown, { ...cloud({ packages: { apt: ['jq'] } }), name: 'n' })
  })
})
