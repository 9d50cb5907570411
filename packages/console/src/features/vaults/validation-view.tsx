import { Output } from '../../components/output.tsx'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { PaneLine, PaneLines, PaneSection } from '../../components/side-pane.tsx'
import { Status } from '../../components/status.tsx'
import type { CredentialValidation } from '../../lib/api/types.ts'
import { saidBy, stepsOf, verdictOf } from './validation.ts'
import { credentialWords as own } from './words.ts'

/** What was tried, step by step, and what to do now. `endpoint`: the host that renews the token. */
export function ValidationView({
  result,
  endpoint,
}: {
  result: CredentialValidation
  endpoint: string
}) {
  const said = saidBy(result)
  return (
    <PaneSection title={own.validated} beside={<Time at={result.validated_at} />}>
      <PaneLines>
        {stepsOf(result, endpoint).map(({ name, outcome, tone }) => (
          <PaneLine key={name} end={<Status tone={tone}>{outcome}</Status>}>
            {name}
          </PaneLine>
        ))}
      </PaneLines>
      <p role="status">{verdictOf(result)}</p>
      {said !== '' && (
        <>
          <Quiet isSmall>{own.serverSaid}</Quiet>
          <Output text={said} />
        </>
      )}
    </PaneSection>
  )
}
