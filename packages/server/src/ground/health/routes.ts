import { z } from 'zod'
import type { Route } from '../http/route.ts'
import { route } from '../http/route.ts'
import { jsonReply } from '../http/reply.ts'
import type { PartState, Readiness } from './ready.ts'

const open = { method: 'get', callers: ['anyone'], section: 'Health', isExtension: true } as const
const Part = z.enum(['ok', 'away', 'full', 'slow', 'failing'] satisfies PartState[])
const Parts = z.object({
  ok: z.boolean().describe('Whether all parts can do their work.'),
  version: z.string().describe('The version of the service.'),
  database: Part.describe('Whether the database answers, and takes writes.'),
  notifications: Part.describe('Whether processes hear of each other.'),
  blobs: Part.describe('Whether the store of files answers, and is the one of the database.'),
})

type Health = { ready: () => Promise<Readiness>; stopping: AbortSignal; version: string }

export const healthRoutes = ({ ready, stopping, version }: Health): Route[] => [
  route(
    {
      ...open,
      path: '/healthz',
      summary: 'Ask whether the service answers',
      answer: z.object({ ok: z.literal(true) }),
    },
    async () => ({ ok: true }),
  ),
  route(
    {
      ...open,
      path: '/readyz',
      summary: 'Ask whether the service can do its work',
      description: 'Answers 503 with the part that cannot.',
      answer: Parts,
      further: [
        {
          status: 503,
          answer: z.union([Parts, z.object({ ok: z.literal(false), stopping: z.literal(true) })]),
          description: 'A part cannot do its work, or the service stops.',
        },
      ],
    },
    async () => {
      if (stopping.aborted) return jsonReply(503, { ok: false, stopping: true })
      const parts = await ready()
      const ok = Object.values(parts).every((state) => state === 'ok')
      return jsonReply(ok ? 200 : 503, { ok, version, ...parts })
    },
  ),
]
