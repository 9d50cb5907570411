/** What came of asking a model for a few tokens, in words. */
import { ButtonLink } from '../../components/button-link.tsx'
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

type ProbeBannerProps = {
  probe: ProbeAnswer
  /** As agents name it. */
  model: string
  onClose: () => void
}

export function ProbeBanner({ probe, model, onClose }: ProbeBannerProps) {
  const { ok, url, message, status } = probe
  const outcome = ok === null ? 'untried' : ok ? 'works' : 'failed'
  const about = [typeof status === 'number' ? own.status(status) : [], message ?? [], url ?? []]
  return (
    <Banner
      {...faces[outcome]}
      title={own.probes[outcome]}
      actions={
        <>
          {outcome === 'works' && (
            <ButtonLink size="small" to="/agents/new" search={{ model }}>
              {own.makeAgent}
            </ButtonLink>
          )}
          <Button size="small" kind="plain" onClick={onClose}>
            {own.again}
          </Button>
        </>
      }
    >
      {about.flat().join(' · ')}
    </Banner>
  )
}
