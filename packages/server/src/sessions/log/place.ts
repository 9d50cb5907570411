import type { SlotFor } from '../../ground/database/statement.ts'

export type TenantSession = { tenant: string; sessionId: string }

/** The columns that every row of a session is found by, for statements that are built once. */
export const ofSession = (slot: SlotFor<TenantSession>) => ({
  tenant_id: slot(({ tenant }) => tenant),
  session_id: slot(({ sessionId }) => sessionId),
})
