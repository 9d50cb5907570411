/** The kinds of integrations. */
import type { IntegrationId } from '@steward/protocol/integrations.ts'
import { integrationIds } from '@steward/protocol/integrations.ts'
import { notFound } from '../../ground/core/errors.ts'

export const displayNames: Readonly<Record<IntegrationId, string>> = {
  github: 'GitHub',
  linear: 'Linear',
  slack: 'Slack',
  webhook: 'Signed webhook',
}

export function parseIntegrationId(id: string): IntegrationId {
  const known = integrationIds.find((each) => each === id)
  if (!known) throw notFound('integration', id)
  return known
}
