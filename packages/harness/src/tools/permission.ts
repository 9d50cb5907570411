import type { PermissionPolicy } from '@steward/protocol/tools.ts'
import type { Tool } from './tool.ts'

const permissions = { always_allow: 'allow', always_ask: 'ask', auto: 'auto' } as const

export const permissionOf = ({ type }: PermissionPolicy): Tool['permission'] => permissions[type]

/** `auto` asks a person, because no program judges calls here. */
export const asksFirst = (tool: Tool | undefined): boolean =>
  tool !== undefined && tool.permission !== 'allow'
