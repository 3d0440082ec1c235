"""From a GGUF file, which torch would unpack at every use, to safetensors, once."""

from pathlib import Path


def from_gguf(file: Path, into: Path) -> None:
    """Write model and tokenizer as transformers reads them fastest: 16-bit floats, unpacked."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float16,
    )
    model.save_pretrained(into)
    tokenizer.save_pretrained(into)
