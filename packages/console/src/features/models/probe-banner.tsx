/** What came of asking a model for a few tokens, in words. */
import { Button } from '../../components/button.tsx'
import { Banner } from '../../components/notices.tsx'
import type { ModelCard } from '../../lib/api/types.ts'
import { modelWords as own } from './words.ts'

export type ProbeAnswer = NonNullable<ModelCard['probe']>

const faces = {
  works: { kind: 'quiet', sign: 'done' },
  failed: { kind: 'failed', sign: 'failed' },
  untried: { kind: 'quiet', sign: 'idle' },
} as const

export function ProbeBanner({ probe, onClose }: { probe: ProbeAnswer; onClose: () => void }) {
  const { ok, url, message, status } = probe
  const outcome = ok === null ? 'untried' : ok ? 'works' : 'failed'
  const about = [typeof status === 'number' ? own.status(status) : [], message ?? [], url ?? []]
  return (
    <Banner
      {...faces[outcome]}
      title={own.probes[outcome]}
      actions={
        <Button size="small" kind="plain" onClick={onClose}>
          {own.again}
        </Button>
      }
    >
      {about.flat().join(' · ')}
    </Banner>
  )
}
