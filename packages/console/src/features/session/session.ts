/** One session, and what a person does to it. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { components } from '../../lib/api/openapi.gen.ts'

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/sessions/{id}', { params: { path: { id } }, signal })),
  })

type PostedEvent = components['schemas']['EventSendParams']['events'][number]

export function usePost(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (events: PostedEvent[]) =>
      api.POST('/v1/sessions/{id}/events', { params: { path: { id } }, body: { events } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  })
}

export const messageOf = (text: string): PostedEvent => ({
  type: 'user.message',
  content: [{ type: 'text', text }],
})

export const interruption = (): PostedEvent => ({ type: 'user.interrupt' })

export const decisionOf = (
  call: string,
  decision: { isAllowed: boolean; reason?: string | undefined },
): PostedEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id: call,
  result: decision.isAllowed ? 'allow' : 'deny',
  ...(decision.reason !== undefined && { deny_message: decision.reason }),
})

const draftName = (id: string) => `steward.draft.${id}`

/** What somebody has begun to write to the session, on this device. */
export function readDraft(id: string): string {
  try {
    return localStorage.getItem(draftName(id)) ?? ''
  } catch {
    return ''
  }
}

export function keepDraft(id: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(draftName(id))
    else localStorage.setItem(draftName(id), text)
  } catch {
    // It holds until the page is left.
  }
}
