import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeRepositories } from './repositories.ts'
import type { Sealed } from '../../ground/core/security/seal.ts'
import { fileRow, repositoryRow } from './fixture.ts'

describe('the description of repositories for an agent', () => {
  it('is where each lies, where it comes from and what is checked out', () => {
    // verifies: resources/repository/told
    const sha = 'ab'.repeat(20)
    const told = describeRepositories([
      repositoryRow(),
      repositoryRow(
        { mount_path: 'c', resolved_path: '/workspace/c' },
        { checkout: { type: 'branch', name: 'next' } },
      ),
      repositoryRow(
        { mount_path: '/workspace/d', resolved_path: '/workspace/d' },
        { checkout: { type: 'commit', sha } },
      ),
      fileRow(),
    ])
    assert.deepEqual(told.split('\n').slice(1), [
      '- /workspace/b: https://git.example/a/b',
      '- /workspace/c: https://git.example/a/b, branch next, asked for at c',
      `- /workspace/d: https://git.example/a/b, commit ${sha}`,
    ])
  })

  it('stays the same when a token comes or changes, and is nothing where there are none', () => {
    const sealed_token = 'v1.x' as Sealed
    const told = describeRepositories([repositoryRow()])
    assert.equal(told, describeRepositories([repositoryRow({ sealed_token })]))
    assert.equal(describeRepositories([fileRow()]), '')
  })
})
