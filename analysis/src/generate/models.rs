// SPDX-License-Identifier: GPL-2.0-only
//! Public shapes of language models.

/// As its configuration says.
pub(super) struct Model {
    pub name: &'static str,
    /// Who says so.
    pub source: &'static str,
    pub layers: u32,
    pub hidden: u32,
    pub attention: Attention,
    /// Of layers without experts, with two matrices, or three if it is gated.
    pub feed_forward: u32,
    pub is_gated: bool,
    pub vocabulary: u32,
    /// Whether embeddings and output head are one table.
    pub is_tied: bool,
    /// Tokens of a sequence in training.
    pub sequence: u32,
    pub experts: Option<Experts>,
}

pub(super) struct Attention {
    /// Query heads, and those with keys and values.
    pub heads: [u32; 2],
    /// Numbers of a head; on average, where keys have others than values.
    pub size: u32,
    /// If they do not follow from these.
    pub parameters: Option<u64>,
}

pub(super) struct Experts {
    pub count: u32,
    pub top_k: u32,
    pub size: u32,
    pub shared: u32,
    /// The first layers without experts, and then one of so many that has them.
    pub dense_layers: u32,
    pub every: u32,
}

const LLAMA: Model = Model {
    name: "llama-7b",
    source: "Llama 2, meta-llama/Llama-2-7b-hf, config.json",
    layers: 32,
    hidden: 4096,
    attention: heads([32, 32], 128),
    feed_forward: 11_008,
    is_gated: true,
    vocabulary: 32_000,
    is_tied: false,
    sequence: 4096,
    experts: None,
};

const GPT: Model = Model {
    name: "gpt-175b",
    source: "GPT-3, Brown et al., 2020, table 2.1",
    layers: 96,
    hidden: 12_288,
    attention: heads([96, 96], 128),
    feed_forward: 4 * 12_288,
    is_gated: false,
    vocabulary: 50_257,
    is_tied: true,
    sequence: 2048,
    experts: None,
};

const QWEN: Model = Model {
    name: "qwen3-32b",
    source: "Qwen/Qwen3-32B, config.json; sequence: Qwen3's technical report, first stages",
    layers: 64,
    hidden: 5120,
    attention: heads([64, 8], 128),
    feed_forward: 25_600,
    vocabulary: 151_936,
    ..LLAMA
};

const LLAMA_4: Model = Model {
    name: "llama4-maverick",
    source: "meta-llama/Llama-4-Maverick-17B-128E, config.json, text alone; sequence: that of Scout's original_max_position_embeddings",
    layers: 48,
    hidden: 5120,
    attention: heads([40, 8], 128),
    feed_forward: 16_384,
    vocabulary: 202_048,
    sequence: 8192,
    experts: Some(Experts { count: 128, top_k: 1, size: 8192, shared: 1, dense_layers: 0, every: 2 }),
    ..LLAMA
};

const GPT_OSS: Model = Model {
    name: "gpt-oss-120b",
    source: "openai/gpt-oss-120b, config.json; sequence: its initial_context_length",
    layers: 36,
    hidden: 2880,
    attention: heads([64, 8], 64),
    feed_forward: 2880,
    vocabulary: 201_088,
    experts: Some(Experts { count: 128, top_k: 4, size: 2880, shared: 0, dense_layers: 0, every: 1 }),
    ..LLAMA
};

pub(super) const MODELS: [Model; 15] = [
    LLAMA,
    Model {
        name: "llama-13b",
        source: "Llama 2, meta-llama/Llama-2-13b-hf, config.json",
        layers: 40,
        hidden: 5120,
        attention: heads([40, 40], 128),
        feed_forward: 13_824,
        ..LLAMA
    },
    Model {
        name: "llama-70b",
        source: "Llama 2, meta-llama/Llama-2-70b-hf, config.json",
        layers: 80,
        hidden: 8192,
        attention: heads([64, 8], 128),
        feed_forward: 28_672,
        ..LLAMA
    },
    Model {
        name: "llama-405b",
        source: "The Llama 3 herd of models, 2024, table 3",
        layers: 126,
        hidden: 16_384,
        attention: heads([128, 8], 128),
        feed_forward: 53_248,
        vocabulary: 128_256,
        sequence: 8192,
        ..LLAMA
    },
    LLAMA_4,
    Model {
        name: "llama4-scout",
        source: "meta-llama/Llama-4-Scout-17B-16E, config.json, text alone; sequence: its original_max_position_embeddings",
        experts: Some(Experts { count: 16, top_k: 1, size: 8192, shared: 1, dense_layers: 0, every: 1 }),
        ..LLAMA_4
    },
    Model {
        name: "gpt-13b",
        source: "GPT-3, Brown et al., 2020, table 2.1, with a hidden size of 5,120 for 5,140",
        layers: 40,
        hidden: 5120,
        attention: heads([40, 40], 128),
        feed_forward: 4 * 5120,
        ..GPT
    },
    GPT,
    Model {
        name: "mixtral-8x7b",
        source: "mistralai/Mixtral-8x7B-v0.1, config.json; sequence: its paper",
        attention: heads([32, 8], 128),
        sequence: 32_768,
        feed_forward: 14_336,
        experts: Some(Experts { count: 8, top_k: 2, size: 14_336, shared: 0, dense_layers: 0, every: 1 }),
        ..LLAMA
    },
    Model {
        name: "deepseek-v3",
        source: "deepseek-ai/DeepSeek-V3, config.json, without the layer that predicts a second token; sequence: its technical report",
        layers: 61,
        hidden: 7168,
        attention: Attention { parameters: Some(latent(7168, 128)), ..heads([128, 128], (128 + 64 + 128) / 2) },
        feed_forward: 18_432,
        vocabulary: 129_280,
        experts: Some(Experts { count: 256, top_k: 8, size: 2048, shared: 1, dense_layers: 3, every: 1 }),
        ..LLAMA
    },
    QWEN,
    Model {
        name: "qwen3-30b-a3b",
        source: "Qwen/Qwen3-30B-A3B, config.json; sequence: Qwen3's technical report, first stages",
        layers: 48,
        hidden: 2048,
        attention: heads([32, 4], 128),
        feed_forward: 6144,
        experts: Some(Experts { count: 128, top_k: 8, size: 768, shared: 0, dense_layers: 0, every: 1 }),
        ..QWEN
    },
    Model {
        name: "qwen3-235b-a22b",
        source: "Qwen/Qwen3-235B-A22B, config.json; sequence: Qwen3's technical report, first stages",
        layers: 94,
        hidden: 4096,
        attention: heads([64, 4], 128),
        feed_forward: 12_288,
        experts: Some(Experts { count: 128, top_k: 8, size: 1536, shared: 0, dense_layers: 0, every: 1 }),
        ..QWEN
    },
    GPT_OSS,
    Model {
        name: "gpt-oss-20b",
        source: "openai/gpt-oss-20b, config.json; sequence: its initial_context_length",
        layers: 24,
        experts: Some(Experts { count: 32, top_k: 4, size: 2880, shared: 0, dense_layers: 0, every: 1 }),
        ..GPT_OSS
    },
];

const fn heads(heads: [u32; 2], size: u32) -> Attention {
    Attention { heads, size, parameters: None }
}

/// Parameters of DeepSeek-V3's attention: queries through 1,536 numbers, keys and values through 512 and 64 for places; heads have
/// 128, and 64 more for places.
const fn latent(hidden: u64, heads: u64) -> u64 {
    let queries = hidden * 1536 + 1536 * heads * (128 + 64);
    let keys_and_values = hidden * (512 + 64) + 512 * heads * (128 + 128);
    queries + keys_and_values + heads * 128 * hidden
}

impl Model {
    /// What the scenario takes for a feed-forward part of a size: with three matrices, half as much more.
    pub fn of_two_matrices(&self, size: u32) -> u32 {
        if self.is_gated { size / 2 * 3 } else { size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters as the models' cards and papers count them, in billions; GPT-3's are those of its table D.1.
    const PUBLISHED: [(&str, f64); 15] = [
        ("llama-7b", 6.74),
        ("llama-13b", 13.02),
        ("llama-70b", 68.98),
        ("llama-405b", 405.9),
        ("llama4-maverick", 400.7),
        ("llama4-scout", 107.8),
        ("gpt-13b", 12.85),
        ("gpt-175b", 174.6),
        ("mixtral-8x7b", 46.7),
        ("deepseek-v3", 671.0),
        ("qwen3-32b", 32.8),
        ("qwen3-30b-a3b", 30.5),
        ("qwen3-235b-a22b", 235.1),
        ("gpt-oss-120b", 116.8),
        ("gpt-oss-20b", 20.9),
    ];

    /// By three matrices, or two, of each part of each layer.
    fn parameters(model: &Model) -> f64 {
        let Attention { heads: [queries, keys], size, parameters } = model.attention;
        let [layers, hidden, queries, keys, size] = [model.layers, model.hidden, queries, keys, size].map(f64::from);
        let attention = parameters.map_or(hidden * size * (2.0 * queries + 2.0 * keys), |parameters| parameters as f64);
        let matrices = if model.is_gated { 3.0 } else { 2.0 };
        let dense = matrices * hidden * f64::from(model.feed_forward);
        let feed_forward = model.experts.as_ref().map_or(layers * dense, |experts| {
            let with = (f64::from(model.layers - experts.dense_layers) / f64::from(experts.every)).floor();
            let each = matrices * hidden * f64::from(experts.size);
            with * f64::from(experts.count + experts.shared) * each + (layers - with) * dense
        });
        let tables = if model.is_tied { 1.0 } else { 2.0 };
        layers * attention + feed_forward + tables * hidden * f64::from(model.vocabulary)
    }

    #[test]
    fn models_have_the_parameters_that_are_published() {
        for (model, (name, published)) in MODELS.iter().zip(PUBLISHED) {
            let seen = parameters(model) / 1e9;
            assert!(
                model.name == name && (seen / published - 1.0).abs() < 0.003,
                "{}: {seen} {name} {published}",
                model.name
            );
        }
    }
}
