/** What differs in the working folder, by whatever made it: over the whole session, or one turn. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Quiet, Row, Stack } from '../../components/layout.tsx'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { SmallSelect } from '../../components/select.tsx'
import { UnifiedDiff } from '../../components/unified-diff.tsx'
import { requestIdOf } from '../../lib/failures.ts'
import { words } from '../../lib/words.ts'
import { changedTurnsQuery, changesQuery } from './folder.ts'

const { panes: own } = words.session

export function ChangesPane({ session, turns }: { session: string; turns: number | undefined }) {
  const [chosen, setChosen] = useState('all')
  const { data: spans } = useQuery(changedTurnsQuery(session))
  const span = spans?.data.find((each) => `${each.from}` === chosen)
  const query = useQuery(changesQuery(session, span ? { from: span.from, to: span.to } : {}))
  const { data, error } = query
  return (
    <Stack gap="normal">
      <Row isSpread>
        <SmallSelect
          label={own.changesOf}
          value={chosen}
          onChange={setChosen}
          choices={[
            { value: 'all', label: own.wholeSession },
            ...(spans?.data ?? []).map(({ from, state, reason }, at) => ({
              value: String(from),
              label: turns === undefined ? own.turnBack(at) : words.session.turnNumber(turns - at),
              ...(state === 'unchanged' && { beside: own.unchanged }),
              ...(state === 'unknown' && { offBecause: reason ?? own.unknown }),
            })),
          ]}
        />
        <Button size="small" kind="plain" onClick={() => void query.refetch()}>
          {own.again}
        </Button>
      </Row>
      {error && <Failure message={error.message} requestId={requestIdOf(error)} />}
      {!data && !error && <Skeleton rows={3} />}
      {data?.state === 'unknown' && <Quiet>{data.reason ?? own.unknown}</Quiet>}
      {data?.state === 'known' && data.files.length === 0 && <Quiet>{own.noChanges}</Quiet>}
      {data?.files.map((file) => (
        <UnifiedDiff
          key={file.path}
          title={`${own.change[file.change]} ${file.previous_path === null ? file.path : `${file.previous_path} → ${file.path}`}`}
          diff={file.diff ?? undefined}
          reason={file.diff_reason === null ? undefined : own.diffReason[file.diff_reason]}
          added={file.lines_added ?? undefined}
          removed={file.lines_removed ?? undefined}
        />
      ))}
    </Stack>
  )
}
