/** What somebody said. A long text stands here cut until somebody wants all of it. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Message } from '../../components/message.tsx'
import { formatBytes } from '../../lib/format/numbers.ts'
import { words } from '../../lib/words.ts'
import type { TalkItem } from './conversation.ts'
import { wholeEventQuery } from './session.ts'
import { textOfContent } from './texts.ts'

type SaidItemProps = {
  item: Extract<TalkItem, { kind: 'said' }>
  /** The id of the session, and the name of its agent. */
  session: string
  agent: string
  isChosen: boolean
  onChoose: () => void
}

export function SaidItem({ item, session, agent, isChosen, onChoose }: SaidItemProps) {
  const [isWhole, setWhole] = useState(false)
  const isCut = item.wholeBytes > 0
  const { data, isFetching, error } = useQuery({
    ...wholeEventQuery(session, item.id),
    enabled: isWhole && isCut,
  })
  const whole =
    isWhole && data && 'content' in data && Array.isArray(data.content)
      ? textOfContent(data.content)
      : undefined
  return (
    <Message
      id={item.id}
      by={item.by}
      name={nameOf(item.by, agent)}
      at={item.at}
      text={whole ?? (isCut ? `${item.text}…` : item.text)}
      isChosen={isChosen}
      onChoose={onChoose}
      foot={
        isCut &&
        whole === undefined && (
          <Button size="small" isBusy={isFetching} onClick={() => setWhole(true)}>
            {error ? error.message : words.session.showWhole(formatBytes(item.wholeBytes))}
          </Button>
        )
      }
    />
  )
}

const nameOf = (by: 'person' | 'agent' | 'system', agent: string): string =>
  by === 'agent' ? agent : by === 'person' ? words.session.you : words.session.system
