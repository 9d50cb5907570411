import type { PermissionPolicy } from '@steward/protocol/tools.ts'
import type { Tool } from './tool.ts'

const permissions = { always_allow: 'allow', always_ask: 'ask', auto: 'auto' } as const

export const permissionOf = ({ type }: PermissionPolicy): Tool['permission'] => permissions[type]

/** `auto` asks: nobody here judges a call but a person. */
export const asksFirst = (tool: Tool | undefined): boolean =>
  tool !== undefined && tool.permission !== 'allow'
