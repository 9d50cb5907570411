import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toldOfRepositories } from './repositories.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { toJson } from '../../ground/core/json-text.ts'

const row = (more: Partial<ResourceRow>): ResourceRow => ({
  ...{ tenant_id: 'wrkspc_1', session_id: 'sesn_1', id: 'sesrsc_1', type: 'github_repository' },
  ...{ file_id: null, url: 'https://git.example/a/b', checkout: null, sealed_token: null },
  ...{ memory_store_id: null, access: null, name: null, description: null, instructions: null },
  ...{ mount_path: '/workspace/b', resolved_path: '/workspace/b' },
  ...{ cloned_at: null, created_at: '', updated_at: '' },
  ...more,
})

describe('what an agent is told of its repositories', () => {
  it('is where each lies, where it comes from and what is checked out', () => {
    // verifies: resources/repository/told
    const checkout = toJson({ type: 'branch' as const, name: 'next' })
    const sha = 'ab'.repeat(20)
    const told = toldOfRepositories([
      row({}),
      row({ mount_path: 'c', resolved_path: '/workspace/c', checkout }),
      row({
        ...{ mount_path: '/workspace/d', resolved_path: '/workspace/d' },
        checkout: toJson({ type: 'commit', sha }),
      }),
      row({ type: 'file', url: null, file_id: 'file_1' }),
    ])
    assert.deepEqual(told.split('\n').slice(1), [
      '- /workspace/b: https://git.example/a/b',
      '- /workspace/c: https://git.example/a/b, branch next, asked for at c',
      `- /workspace/d: https://git.example/a/b, commit ${sha}`,
    ])
  })

  it('stays the same when a token comes or changes, and is nothing where there are none', () => {
    const sealed_token = 'v1.x' as ResourceRow['sealed_token']
    assert.equal(toldOfRepositories([row({})]), toldOfRepositories([row({ sealed_token })]))
    assert.equal(toldOfRepositories([row({ type: 'file', url: null })]), '')
  })
})
