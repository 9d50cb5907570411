import { it } from 'node:test'
import type { TestContext } from 'node:test'
import type { RequirementId } from './requirements.ts'

/**
 * Declares a test that proves these requirements of docs/interface.md. The name of the test ends with the ids.
 * Write the ids out as literals: the coverage check finds citations by reading the source.
 */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  name: string,
  prove: (context: TestContext) => void | Promise<void>,
): void {
  void it(`${name} [${[ids].flat().join(', ')}]`, prove)
}
