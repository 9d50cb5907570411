import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AllowLists } from '@steward/protocol/rules.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { limitsFor } from '../limits.ts'
import { compileLists } from './compiled-lists.ts'
import { rulesOver } from './rules.ts'
import { ruleStore } from './store.ts'

const tenant = 'wrkspc_test'

describe('rules of a workspace', () => {
  it('are read for the first call of a workspace, and answered from memory after that', async () => {
    await using at = await databases.sqlite()
    const limits = limitsFor('off', testGround(at.database), {}, { models: ['a', 'b'] })
    const own = (allowed: AllowLists) =>
      at.database.write((tx) => ruleStore(tx).change(tenant, (kept) => ({ ...kept, allowed }), 0))
    await own({ models: ['b', 'c'] })
    const { rules } = limits
    assert.match(String(await rules.refusal(tenant, 'models', ['a'])), /its rule models/)
    assert.equal(rules.refusal(tenant, 'models', ['b']), undefined)
    assert.match(String(await rules.refusal(tenant, 'models', ['c'])), /ALLOWED_MODELS/)
    await own({})
    await limits.workspaces.changed(tenant)
    assert.equal(rules.refusal(tenant, 'models', ['a']), undefined)
  })

  it('allow a thing with several names when one of the names is listed', () => {
    const known = { peek: () => ({ allowed: compileLists({}) }), read: () => assert.fail() }
    const rules = rulesOver(known, { models: ['claude-a'], images: [] })
    assert.equal(rules.refusal(tenant, 'models', ['anthropic/claude-a', 'claude-a']), undefined)
    assert.equal(
      rules.refusal(tenant, 'images', ['any']),
      undefined,
      'an empty setting lists nothing',
    )
  })

  it('look names up only where a list exists', async () => {
    const none = { allowed: compileLists({}) }
    const known = { peek: () => none, read: async () => none }
    const rules = rulesOver(known, { images: ['a'] })
    await rules.check(tenant, 'models', () => assert.fail(), 'model')
    await rules.check(tenant, 'images', async () => undefined, 'base_image')
    await assert.rejects(
      rules.check(tenant, 'images', async () => ['b'], 'base_image'),
      /^Error: base_image: the image b is not allowed on this server/,
    )
  })
})
