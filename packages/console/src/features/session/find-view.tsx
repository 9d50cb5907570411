/** Finds in the whole log, also where the page has not loaded it. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { FindLine, FoundLine } from '../../components/find-line.tsx'
import { Scroll } from '../../components/layout.tsx'
import { ListFoot } from '../../components/list-foot.tsx'
import { Empty, Failure, Skeleton } from '../../components/notices.tsx'
import { SmallSelect } from '../../components/select.tsx'
import { requestIdOf } from '../../lib/failures.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { useSettled } from '../../lib/settled.ts'
import { words } from '../../lib/words.ts'
import type { FollowedLog } from './log.ts'
import type { SearchOf } from './session.ts'
import { foundQuery } from './session.ts'
import { toolsOf } from './tool-figures.ts'

type FindViewProps = {
  session: string
  log: FollowedLog
  chosen: string | undefined
  onChoose: (id: string) => void
}

const anyTool = ''

export function FindView({ session, log, chosen, onChoose }: FindViewProps) {
  const [text, setText] = useState('')
  const [errors, setErrors] = useState(false)
  const [tool, setTool] = useState(anyTool)
  const line = useRef<HTMLInputElement>(null)
  useEffect(() => line.current?.focus(), [])
  const tools = useMemo(() => toolsOf(log.events).map(({ name }) => name), [log.events])
  const q = useSettled(text.trim())
  const isAsked = q !== '' || errors || tool !== anyTool
  return (
    <>
      <FindLine
        value={text}
        onChange={setText}
        errorsOnly={errors}
        onErrorsOnly={setErrors}
        inputRef={line}
      >
        <SmallSelect
          label={words.session.findTool}
          value={tool}
          onChange={setTool}
          choices={[
            { value: anyTool, label: words.session.anyTool },
            ...tools.map((name) => ({ value: name, label: name })),
          ]}
        />
      </FindLine>
      <Scroll>
        {isAsked ? (
          <Found
            session={session}
            search={{ q, errors, tool }}
            chosen={chosen}
            onChoose={onChoose}
          />
        ) : (
          <Empty>{words.session.findNothing}</Empty>
        )}
      </Scroll>
    </>
  )
}

function Found({
  session,
  search,
  chosen,
  onChoose,
}: Omit<FindViewProps, 'log'> & { search: SearchOf }) {
  const query = useInfiniteQuery({
    ...foundQuery(session, search),
    placeholderData: keepPreviousData,
  })
  const { data, error } = query
  if (!data)
    return error ? <Failure message={error.message} requestId={requestIdOf(error)} /> : <Skeleton />
  const found = data.pages.flatMap((page) => page.data)
  return (
    <>
      {found.map(({ id, type, seq, is_error: isError, excerpt }) => (
        <FoundLine
          key={id}
          type={type}
          seq={formatCount(seq)}
          before={excerpt?.before ?? ''}
          text={excerpt?.text ?? ''}
          after={excerpt?.after ?? ''}
          isError={isError}
          isChosen={id === chosen}
          onChoose={() => onChoose(id)}
        />
      ))}
      {found.length === 0 && !query.hasNextPage && <Empty>{words.session.notFound}</Empty>}
      <ListFoot>
        {query.hasNextPage && (
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {words.list.more}
          </Button>
        )}
      </ListFoot>
    </>
  )
}
