/** The bench of a retriever or a reranker: `<RetrievalBench action={action} />`. */
import type { ActionData } from "@/api/schema"
import { RerankBench } from "./RerankBench"
import { RetrieverBench } from "./RetrieverBench"

export function RetrievalBench({ action }: { action: ActionData }) {
  return action.kind === "reranker" ? <RerankBench action={action} /> : <RetrieverBench action={action} />
}
