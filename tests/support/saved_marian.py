"""A tiny Marian with random weights, and a sentencepiece model trained here, saved to a folder."""

import io
import json
from pathlib import Path
from typing import Any

import sentencepiece
import torch

from tests.support.tiny_families import OUT_AND_IN

LINES = [
    "The CEO announced record earnings on Friday",
    "Tổng giám đốc đã công bố lợi nhuận kỷ lục vào thứ Sáu",
    "the bank reported weak sales",
    "ngân hàng báo cáo doanh số yếu",
] * 5


def save(folder: Path) -> Path:
    """Everything that a folder of a published one holds."""
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    learned = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=learned,
        vocab_size=90,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    cutting = sentencepiece.SentencePieceProcessor(model_proto=learned.getvalue())
    pieces = [cutting.id_to_piece(n) for n in range(cutting.get_piece_size())]
    names = ["</s>", "<unk>", *(p for p in pieces if not p.startswith("<")), "<pad>"]
    for side in ("source.spm", "target.spm"):
        (folder / side).write_bytes(learned.getvalue())
    vocabulary = {name: n for n, name in enumerate(names)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    tokenizer: Any = MarianTokenizer
    tokenizer = tokenizer(
        *(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json"))
    )
    torch.manual_seed(0)
    last = len(names) - 1
    # d_k is 16 and 4: roots without rounding, so that every bit must agree
    sizes = OUT_AND_IN | {"vocab_size": len(names), "max_position_embeddings": 128}
    signs = {"pad_token_id": last, "decoder_start_token_id": last, "eos_token_id": 0}
    model = MarianMTModel(MarianConfig(**sizes | signs, forced_eos_token_id=0))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
